"""Simulated nodes, the jobs on them without WinRM in between, and the fleet that is planned for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lockstep.ansible.arguments import accepted
from lockstep.ansible.containerd import configure as containerd_config
from lockstep.ansible.containerd import info as containerd_config_info
from lockstep.ansible.fleet import pool_plan
from lockstep.ansible.kubelet import configure as kubelet_config
from lockstep.ansible.kubelet import info as kubelet_config_info
from lockstep.ansible.node_info import observe as node_info
from lockstep.ansible.spec import argument_spec
from lockstep.node.session import Completed, Session
from lockstep.sim import EmulatedEngine, NodeSpec

ROOT = Path(__file__).parents[2]
FLEET: dict[str, Any] = {
    "kubernetes": "1.36.1",
    "containerd": "2.3.4",
    "pools": {"win2022": {"host": "ltsc2022"}, "win2025": {"host": "ltsc2025"}},
    "runtime_classes": {
        "windows-2022": {"isolation": "process", "guest": "ltsc2022"},
        "windows-2025": {"isolation": "process", "guest": "ltsc2025"},
        "windows-2025-hyperv": {
            "isolation": "hyperv",
            "guest": "ltsc2025",
            "vm": {"memory": "2Gi", "processors": 2},
            "overhead": {"memory": "512Mi"},
        },
    },
}


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "containerd_config": containerd_config.configure,
    "containerd_config_info": containerd_config_info.read_configuration,
    "kubelet_config": kubelet_config.configure,
    "kubelet_config_info": kubelet_config_info.read_configuration,
    "lockstep_node_info": node_info.observe,
}


def validated(module: str, given: dict[str, Any]) -> dict[str, Any]:
    return accepted(module, argument_spec(ROOT / "library" / f"{module}.py"), given)


class Node:
    """A simulated node and the session with it; `requests` counts reads and applies."""

    def __init__(self, folder: Path, spec: NodeSpec) -> None:
        self.engine = EmulatedEngine(folder / spec.name, spec, folder / "cluster")
        self.requests = 0
        self.before_request: Callable[[int], None] = lambda _: None
        self.session = Session(self._run)

    def new_session(self) -> Session:
        """Return a session as each task has one of its own."""
        return Session(self._run)

    def _run(self, command: str, standard_input: bytes) -> Completed:
        self.requests += 1
        self.before_request(self.requests)
        done = self.engine.execute(command, standard_input)
        return Completed(done.exit_code, done.stdout.decode(), done.stderr.decode())

    def do(self, module: str, *, check_mode: bool = False, **given: Any) -> dict[str, Any]:
        """The result of a task with these arguments, validated and filled up by Ansible as for a real one."""
        job = JOBS[module]
        return job(self.session, validated(module, given), check_mode=check_mode)

    def planned(self, module: str, *, fleet: dict[str, Any] = FLEET, **other: Any) -> dict[str, Any]:
        """The result of a module with the plan of pool win2025 for it and other arguments."""
        pool = pool_plan(fleet, ["win2025"])
        part = {"host": pool["host"], **pool[module.removesuffix("_config")]}
        known = argument_spec(ROOT / "library" / f"{module}.py")
        return self.do(module, **{**{key: value for key, value in part.items() if key in known}, **other})

    def remove_service(self, name: str) -> None:
        """Unregister a service, as `sc.exe delete` does."""
        path = self.engine.folder / "services.json"
        services = json.loads(path.read_text())
        del services[name]
        path.write_text(json.dumps(services))
        self.engine = EmulatedEngine(self.engine.folder, None, self.engine.folder.parent / "cluster")

    @property
    def leftovers(self) -> list[str]:
        """Files that only an interrupted or failed apply leaves behind."""
        found = [*self.engine.folder.rglob("*.lockstep-*"), *self.engine.folder.rglob("*.rejected")]
        return [path.name for path in [*found, *self.engine.folder.rglob("transactions/*")]]

    def file(self, path: str) -> Path:
        """A file of the node's drive on this machine."""
        drive, _, rest = path.partition(":\\")
        return self.engine.folder / drive / rest.replace("\\", "/")


MakeNode = Callable[..., Node]
