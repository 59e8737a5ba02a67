"""Interrupted before each change while a service is registered, and run again: registered whole, or gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.node.support import interruption, registry
from tests.node.support.cases import PROGRAM
from tests.node.support.linux import Host, LinuxBench

from lockstep.node.errors import NodeError
from lockstep.node.operations import (
    Operation,
    define_service,
    ensure_folder,
    read_registry,
    read_service,
    restart_service,
    write_registry,
)
from lockstep.node.session import Session
from lockstep.node.wire import command_line, envelope

NAME, CONFIG = "new", "C:\\new.conf"
KEY = f"HKLM\\SYSTEM\\CurrentControlSet\\Services\\{NAME}\\Parameters"
DEFINITION: dict[str, Any] = {
    "binary_path": f"{PROGRAM} service {NAME} {CONFIG}",
    "description": "It is new.",
    "start_type": "delayed",
    "environment": ["A=b"],
    "recovery": {
        "reset_seconds": 60,
        "actions": [{"action": "restart", "delay_milliseconds": 1000}],
        "on_non_crash": True,
    },
}
IMPOSSIBLE = write_registry(KEY, "impossible", "dword", 1, replaces=2)
pytestmark = [pytest.mark.windows, pytest.mark.slow]


def _plan(session: Session) -> list[Operation]:
    service, value = session.read([read_service(NAME), read_registry(KEY, "Application")])
    return [
        ensure_folder("C:\\new", "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"),
        define_service(NAME, DEFINITION, replaces=service.get("binary_path")),
        write_registry(KEY, "Application", "string", "a", replaces=value.get("value")),
        restart_service(NAME, timeout_seconds=20, settle_seconds=0),
    ]


def _interrupted(bench: LinuxBench, at: int) -> bool:
    request = {"mode": "apply", "transaction": NAME, "operations": _plan(Session(bench.run))}
    script = interruption.agent(at, interruption.TRIP_WIRE)
    return bool(bench.order(command_line(), envelope(script, request))["tripped"])


def test_interrupted(host: Host, tmp_path: Path) -> None:
    for at in range(1, 100):
        place = tmp_path / str(at)
        place.mkdir()
        bench = LinuxBench(host, place)
        bench.write(CONFIG, b"run")
        session = Session(bench.run)
        if not _interrupted(bench, at):
            break
        if at % 2:
            session.apply(NAME, _plan(session))
            _assert_registered(bench, f"before change {at}")
        else:
            _assert_taken_back(bench, f"before change {at}")
    assert at > 15


def _assert_registered(bench: LinuxBench, at: str) -> None:
    service, value = Session(bench.run).read([read_service(NAME), read_registry(KEY, "Application")])
    assert {key: service[key] for key in DEFINITION} == DEFINITION, at
    assert (service["state"], value["value"]) == ("running", "a"), at


def _assert_taken_back(bench: LinuxBench, at: str) -> None:
    session = Session(bench.run)
    journal = _journal(bench)
    # Without a journal either nothing was begun, or all is done.
    decided = session.read([read_service(NAME)])[0]["exists"] if journal is None else journal["phase"] == "committed"
    with pytest.raises(NodeError) as error:
        session.apply(NAME, [*_plan(session), IMPOSSIBLE])
    assert error.value.rolled_back, f"{at}: {error.value}"
    if decided:
        _assert_registered(bench, at)
        return
    keys = json.loads((bench.folder / registry.FILE).read_text())
    assert not [key for key in keys if f"Services\\{NAME}" in key], at
    assert not (bench.folder / "C:\\new").exists(), at


def _journal(bench: LinuxBench) -> Any:
    path = bench.folder / f"C:\\ProgramData\\lockstep\\transactions\\{NAME}.json"
    return json.loads(path.read_text()) if path.exists() else None
