"""A site as a user has one: an inventory, ansible-playbook, WinRM, simulated nodes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lockstep.sim import NodeSpec, SimulatedNodes

ROOT = Path(__file__).parents[2]
RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.MULTILINE)
NODES = [
    NodeSpec("win2022-0", "ltsc2022", "2.3.4", "1.36.1"),
    NodeSpec("win2025-0", "ltsc2025", "2.3.4", "1.36.1"),
]


class Site:
    """The demo inventory with two simulated nodes on ports of their own."""

    def __init__(self, folder: Path, nodes: SimulatedNodes) -> None:
        self.nodes = nodes
        self._folder = folder
        ports = {
            name: {"ansible_port": nodes.port(name), "artifacts_mirror": nodes.mirror(name)} for name in nodes.names
        }
        (folder / "ports.yml").write_text(yaml.safe_dump({"all": {"hosts": ports}}))

    def play(
        self,
        playbook: Path | list[dict[str, Any]],
        *arguments: str,
        status: int = 0,
        warns: bool = False,
        environment: Mapping[str, str] | None = None,
        **keywords: Any,
    ) -> str:
        """The output of a playbook, or of a play with these tasks and keywords."""
        if isinstance(playbook, list):
            playbook = self.playbook({"tasks": playbook, **keywords})
        done = subprocess.run(
            [*self.command, playbook, *arguments],
            env=self.environment(environment),
            cwd=self._folder, text=True, capture_output=True, check=False,
        )  # fmt: skip
        output = done.stdout + done.stderr
        assert done.returncode == status, output
        assert "Traceback" not in output
        assert "DEPRECATION" not in output
        assert ("[WARNING]" in output) is warns, output
        return output

    @property
    def command(self) -> list[str]:
        """What starts ansible-playbook with this inventory."""
        ansible_playbook = Path(sys.executable).with_name("ansible-playbook")
        inventories = ROOT / "inventories" / "demo", self._folder / "ports.yml"
        return [str(ansible_playbook), *(f"--inventory={path}" for path in inventories)]

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What ansible-playbook finds in its environment."""
        return {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1", **(more or {})}

    def playbook(self, *plays: dict[str, Any]) -> Path:
        """A playbook of these plays."""
        path = self._folder / "tasks.yml"
        complete = [{"hosts": "windows", "gather_facts": False, **play} for play in plays]
        path.write_text(yaml.safe_dump(complete, sort_keys=False))
        return path

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
