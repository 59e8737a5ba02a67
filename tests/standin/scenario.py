"""A role's molecule scenario on the Windows stand-in, step by step."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from tests.node.support.standin import Node
from tests.standin import nodes

from lockstep.fleet.plan import PoolPlan
from lockstep.rules.check import check_data

ROOT = Path(__file__).parents[2]
_LIMIT = 600


class Scenario:
    """The default scenario of a role, in a folder of its own."""

    def __init__(self, role: str, folder: Path, templates: Path) -> None:
        self.role = ROOT / "roles" / role
        self._folder = folder
        self._environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "MOLECULE_EPHEMERAL_DIRECTORY": str(folder),
            "LOCKSTEP_SIM_ENGINE": "powershell",
            nodes.TEMPLATES: str(templates),
            "NO_COLOR": "1",
        }
        fleet = self._read("inventory.yml")["windows"]["vars"]["lockstep_fleet"]
        plan = check_data(fleet).plan
        assert plan is not None
        self._plan = plan
        self.nodes = {entry["name"]: Node(folder / "nodes" / entry["name"]) for entry in self._read("nodes.yml")}

    def do(self, step: str) -> None:
        """Carry out a step of molecule's: create, converge, idempotence, verify, destroy."""
        done = subprocess.run(
            ["molecule", step],
            cwd=self.role,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_LIMIT,
            check=False,
        )
        assert done.returncode == 0, f"molecule {step}:\n{done.stdout}"

    def planned(self, node: str) -> PoolPlan:
        """Return the plan of a node: its pool is its name without the number."""
        return self._plan.pools[node.rpartition("-")[0]]

    def with_services(self) -> list[str]:
        """Return the nodes that had their services before the role came."""
        return [entry["name"] for entry in self._read("nodes.yml") if entry.get("prepared", "services") == "services"]

    def process_ids(self, service: str, names: Iterable[str] | None = None) -> dict[str, int]:
        """Return the process of a service on each node, or on these; all of them must run."""
        wanted = self.nodes if names is None else names
        states = {name: self.nodes[name].states([service])[service] for name in wanted}
        assert {now.state for now in states.values()} == {"running"}
        return {name: now.process_id for name, now in states.items()}

    def _read(self, name: str) -> Any:
        return yaml.safe_load((self.role / "molecule" / "default" / name).read_text(encoding="utf-8"))


def image_path(node: Node, service: str) -> str:
    """Return a service's command line as the registry has it."""
    key = rf"HKLM\SYSTEM\CurrentControlSet\Services\{service}"
    text = nodes.run(node, "reg.exe", "query", key, "/v", "ImagePath").decode()
    match = re.search(r"ImagePath\s+REG_\w+\s+(.*?)\s*$", text, re.MULTILINE)
    assert match, text
    return match[1]


def flags(command_line: str) -> Mapping[str, str]:
    """Return the flags of a kubelet's command line that are written --name=value."""
    return dict(word[2:].split("=", 1) for word in command_line.split() if word.startswith("--") and "=" in word)
