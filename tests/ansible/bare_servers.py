"""A bare simulated server and the windows_host job on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.ansible.nodes import Node, validated

from lockstep.ansible.errors import TaskError
from lockstep.ansible.windows_host.configure import Surroundings, prepare
from lockstep.node.operations import read_defender, read_features, read_firewall, read_power
from lockstep.sim import NodeSpec

HYPERV = ["Containers", "Hyper-V", "Hyper-V-PowerShell"]
READINGS = [read_features(HYPERV), read_defender(), read_power()]
INSTALLED = dict.fromkeys(HYPERV, "installed")


class Host:
    """A bare simulated server and the job on it."""

    def __init__(self, folder: Path, **machine: Any) -> None:
        settings = {"restart_seconds": 0.1, **machine}
        self.node = Node(folder, NodeSpec("win2025-0", "ltsc2025", prepared="nothing", machine=settings))
        self.reconnected = 0
        self.claims: dict[str, str] = {}

    def do(self, *, check_mode: bool = False, **given: Any) -> dict[str, Any]:
        arguments = validated("windows_host", {"features": HYPERV, "host": "ltsc2025", **given})
        around = Surroundings(self._reconnect, self.claims.get)
        return prepare(self.node.new_session(), arguments, around, check_mode=check_mode)

    def _reconnect(self) -> None:
        self.reconnected += 1

    def state(self, name: str) -> dict[str, Any]:
        """What the node keeps under a name; empty where all is as on a new server."""
        path = self.node.engine.folder / f"{name}.json"
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def set_state(self, name: str, change: Callable[[dict[str, Any]], object]) -> None:
        state = self.state(name)
        change(state)
        (self.node.engine.folder / f"{name}.json").write_text(json.dumps(state))

    def everything(self) -> dict[str, Any]:
        """All that the task may change, as the node tells it."""
        answers = self.node.new_session().read([*READINGS, read_firewall(["kubelet"])])
        registry = {key.lower(): values for key, values in self.state("registry").items() if values}
        return {"answers": answers, "registry": registry}


def failure(server: Host, *, check_mode: bool = False, **given: Any) -> TaskError:
    with pytest.raises(TaskError) as caught:
        server.do(check_mode=check_mode, **given)
    return caught.value
