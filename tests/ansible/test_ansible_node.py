"""What a task says of a node that cannot be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import read
from lockstep.node.contract import contract
from lockstep.node.operations import read_system
from lockstep.node.session import Completed, Session


def answering(*results: dict[str, Any]) -> Session:
    markers = contract()["markers"]
    response = json.dumps({"contract": 1, "mode": "read", "ok": True, "results": list(results)})
    return Session(lambda _line, _stdin: Completed(0, f"{markers['begin']}\n{response}\n{markers['end']}\n", ""))


def test_a_windows_that_does_not_say_what_it_is_is_an_error_and_no_traceback() -> None:
    failed = {"op": "system.read", "ok": False, "error": {"code": "io", "message": "Property UBR does not exist."}}
    with pytest.raises(TaskError, match=r"cannot be read, so nothing was done(.|\n)*Property UBR does not exist"):
        read(answering(failed), [read_system()])
