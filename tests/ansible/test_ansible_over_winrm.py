"""The whole way, as a user goes it: ansible-playbook, WinRM, a simulated node."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from winrm.protocol import Protocol

from lockstep.ansible.containerd_config import configure
from lockstep.ansible.fleet import pool_plan
from lockstep.node.session import Completed, Session
from lockstep.sim import DEFAULT_PASSWORD, DEFAULT_USER, NodeSpec, SimulatedNodes

ROOT = Path(__file__).parents[2]
RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.MULTILINE)
CONFIG = "C/Program Files/containerd/config.toml"
NOTHING_TO_DO, CHANGE = 6, 10
"""Requests that a task may take, with Basic authentication."""

pytestmark = pytest.mark.slow


class Site:
    """The demo inventory with two simulated nodes on ports of their own."""

    def __init__(self, folder: Path, nodes: SimulatedNodes) -> None:
        self.nodes = nodes
        self._folder = folder
        ports = {name: {"ansible_port": nodes.port(name)} for name in nodes.names}
        (folder / "ports.yml").write_text(yaml.safe_dump({"all": {"hosts": ports}}))

    def play(self, playbook: Path | list[dict[str, Any]], *arguments: str, status: int = 0) -> str:
        """The output of a playbook, or of a play with these tasks."""
        if isinstance(playbook, list):
            tasks = self._folder / "tasks.yml"
            play = {"hosts": "windows", "gather_facts": False, "tasks": playbook}
            tasks.write_text(yaml.safe_dump([play], sort_keys=False))
            playbook = tasks
        done = subprocess.run(
            [
                Path(sys.executable).with_name("ansible-playbook"), "-i", ROOT / "inventories" / "demo",
                "-i", self._folder / "ports.yml", playbook, *arguments,
            ],
            env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
            cwd=self._folder, text=True, capture_output=True, check=False,
        )  # fmt: skip
        output = done.stdout + done.stderr
        assert done.returncode == status, output
        assert "Traceback" not in output
        assert "DEPRECATION" not in output
        return output

    def changed(self, output: str) -> dict[str, int]:
        """How much changed on each host; every host of the recap was reached and did not fail."""
        recap = RECAP.findall(output)
        assert all(unreachable == failed == "0" for _, _, _, unreachable, failed in recap)
        return {host: int(changed) for host, _, changed, _, _ in recap}

    def requests(self) -> dict[str, int]:
        """Requests of each node since this was asked last."""
        counted = {name: int(stats["requests"]) for name, stats in self.nodes.stats().items()}
        self.nodes.reset_stats()
        return counted


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    specs = [
        NodeSpec("win2022-0", "ltsc2022", "2.3.4", "1.36.1"),
        NodeSpec("win2025-0", "ltsc2025", "2.3.4", "1.36.1"),
    ]
    with SimulatedNodes(tmp_path / "nodes", specs) as nodes:
        yield Site(tmp_path, nodes)


def test_become_is_refused_with_the_reason(site: Site) -> None:
    output = site.play([{"containerd_config_info": {}, "become": True}], "--limit", "win2022-0", status=2)
    assert "containerd_config_info does not support become" in output
    assert site.requests()["win2022-0"] == 0


class WinrmRunner:
    """Carries commands as Ansible's winrm connection does, without starting Ansible for each."""

    def __init__(self, url: str) -> None:
        self._protocol = Protocol(
            url, transport="basic", username=DEFAULT_USER, password=DEFAULT_PASSWORD, server_cert_validation="ignore"
        )

    def __call__(self, command: str, standard_input: bytes) -> Completed:
        shell = self._protocol.open_shell(codepage=65001)
        try:
            started = self._protocol.run_command(shell, command)
            self._protocol.send_command_input(shell, started, standard_input, end=True)
            stdout, stderr, status = self._protocol.get_command_output(shell, started)
            self._protocol.cleanup_command(shell, started)
        finally:
            self._protocol.close_shell(shell)
        return Completed(status, stdout.decode(), stderr.decode())


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_dropped_at_any_request_is_made_good_by_the_next_run(
    tmp_path: Path, fleet: dict[str, Any], arguments: Callable[..., dict[str, Any]], when: str
) -> None:
    own = b"version = 3\n# ours\n"
    task = arguments("containerd_config", pool_plan(fleet, ["win2025"])["containerd"])
    right: bytes | None = None
    # Two commands, six requests each.
    for request in range(1, 13):
        name = f"{when}-{request}"
        with SimulatedNodes(tmp_path, [NodeSpec(name, "ltsc2025", "2.3.4", "1.36.1")]) as nodes:
            config = tmp_path / name / CONFIG
            config.write_bytes(own)
            nodes.faults(name).add(kind="drop", request=request, when=when)
            session = Session(WinrmRunner(nodes.url(name)))
            with pytest.raises(requests.exceptions.RequestException):
                configure(session, task, check_mode=False)
            configure(session, task, check_mode=False)
            assert not configure(session, task, check_mode=False)["changed"], request
            right = right or config.read_bytes()
            assert config.read_bytes() == right
            assert b"# ours" in right
            assert not [path.name for path in (tmp_path / name / "C").rglob("*.lockstep-*")]
