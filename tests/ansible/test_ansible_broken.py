"""A connection that breaks is told with the host that it led to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lockstep.ansible.action import NodeAction
from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import ConnectionBrokeError, Step, System, apply, read
from lockstep.node.operations import read_system, restart_service
from lockstep.node.session import Completed, Session


def breaks(*_: object) -> Completed:
    raise ConnectionBrokeError("connection reset by peer")


def reads(session: Session, _arguments: dict[str, Any], **_: object) -> dict[str, Any]:
    return {"read": read(session, [read_system()])}


def changes(session: Session, arguments: dict[str, Any], **_: object) -> dict[str, Any]:
    step = Step("restart", restart_service("kubelet", timeout_seconds=1))
    apply(session, "test", [step], System(arguments["name"], "10.0.26100", "Windows Server"), "kubelet")
    return {}


@pytest.mark.parametrize(
    ("job", "name", "node"),
    [
        (reads, "", "win2025-0"),
        (changes, "WIN2025-0", "WIN2025-0 (Windows Server, 10.0.26100)"),
        (changes, "WIN-8F3", "win2025-0, WIN-8F3 (Windows Server, 10.0.26100)"),
    ],
)
def test_a_broken_connection_names_the_host(job: Any, name: str, node: str) -> None:
    class Action(NodeAction):
        pass

    Action.job = staticmethod(job)
    action = object.__new__(Action)
    action._host = "win2025-0"
    action._task = SimpleNamespace(check_mode=False)
    with pytest.raises(TaskError, match="the connection broke") as raised:
        action._do(Session(breaks), {"name": name})
    assert next(iter(raised.value.facts.items())) == ("node", node)
