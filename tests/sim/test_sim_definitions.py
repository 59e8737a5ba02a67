"""Power is lost at every micro-step while Windows' own state is changed: running again completes it, or undoes it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from lockstep.node.errors import NodeError
from lockstep.node.operations import (
    Operation,
    define_service,
    ensure_folder,
    read_folder,
    read_registry,
    read_service,
    read_transaction,
    remove_file,
    restart_service,
    stop_service,
    write_registry,
)
from lockstep.sim import EmulatedEngine
from lockstep.sim.engine import PowerLost

FOLDER = "C:\\helper\\logs"
ACCESS = "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
JOURNAL = "C:\\ProgramData\\lockstep\\transactions\\helper.json"
PARAMETERS = "HKLM\\SYSTEM\\CurrentControlSet\\Services\\helper\\Parameters"
DEFINITION: dict[str, Any] = {
    "binary_path": "C:\\helper\\helper.exe --serve",
    "display_name": "Helper",
    "description": "Helps.",
    "start_type": "manual",
    "depends_on": ["containerd"],
    "environment": ["A=b"],
    "recovery": {
        "reset_seconds": 60,
        "actions": [{"action": "restart", "delay_milliseconds": 1000}],
        "on_non_crash": True,
    },
}
READS = [read_folder(FOLDER), read_registry(PARAMETERS, "Application"), read_service("helper")]
IMPOSSIBLE = [remove_file("C:\\helper\\none", replaces=None), write_registry(PARAMETERS, "x", "dword", 1, replaces=2)]


def converge(engine: EmulatedEngine, *more: Operation) -> None:
    session = engine.session()
    folder, value, service, transaction = session.read([*READS, read_transaction("helper")])
    planned = service["exists"] and all(service[key] == DEFINITION[key] for key in DEFINITION)
    if planned and folder["exists"] and value["exists"] and not transaction["pending"]:
        return
    operations = [
        ensure_folder(FOLDER, ACCESS),
        stop_service("containerd"),
        define_service("helper", DEFINITION, replaces=service.get("binary_path")),
        write_registry(PARAMETERS, "Application", "expand_string", "%ProgramFiles%", replaces=value.get("value")),
        restart_service("containerd", settle_seconds=0),
        *more,
    ]
    session.apply("helper", operations)


def prepare(folder: Path) -> EmulatedEngine:
    return EmulatedEngine(folder / "state" / "node")


def kept(engine: EmulatedEngine) -> dict[str, Any]:
    """What Windows keeps beside its drives: keys, access lists, and what services are defined as."""
    state = {name: engine.folder / f"{name}.json" for name in ("registry", "access", "services")}
    found = {name: json.loads(path.read_text()) if path.exists() else {} for name, path in state.items()}
    passing = ("process_id", "exit_code", "started_at", "ended_at", "state", "ends", "deaf")
    services = {
        name: {key: value for key, value in service.items() if key not in passing}
        for name, service in found["services"].items()
    }
    return {**found, "services": services}


def is_decided(engine: EmulatedEngine) -> bool | None:
    """Whether the interrupted apply was committed; None where it left nothing to finish."""
    if not engine.session().read([read_transaction("helper")])[0]["pending"]:
        return None if engine.services.get("helper") else False
    journal = engine.machine.disk.read(JOURNAL)
    return journal is not None and json.loads(journal)["phase"] == "committed"


def steps_of(run: Callable[[EmulatedEngine], None]) -> list[str]:
    with TemporaryDirectory() as folder:
        engine = prepare(Path(folder))
        run(engine)
        return engine.steps.labels


STEPS = steps_of(converge)


def test_the_steps_cover_every_kind_of_change() -> None:
    for start in ("make folder", "set access", "create service", "configure service", "write HKLM", "stop service"):
        assert any(label.startswith(start) for label in STEPS), start


@pytest.mark.parametrize("step", range(1, len(STEPS) + 1), ids=lambda step: f"{step}-{STEPS[step - 1]}")
def test_completed(step: int, tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    engine.faults.add(kind="power", step=step)
    with pytest.raises(PowerLost):
        converge(engine)
    engine.power_on()
    converge(engine)
    folder, value, service = engine.session().read(READS)
    assert folder == {**folder, "exists": True, "access": ACCESS}
    assert (value["kind"], value["value"]) == ("expand_string", "%ProgramFiles%")
    assert {key: service[key] for key in DEFINITION} == DEFINITION
    containerd = engine.services.get("containerd")
    assert containerd is not None
    assert containerd.state == "running"
    converge(engine, *IMPOSSIBLE)


@pytest.mark.parametrize("step", range(1, len(STEPS) + 1), ids=lambda step: f"{step}-{STEPS[step - 1]}")
def test_taken_back(step: int, tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    before = kept(engine)
    engine.faults.add(kind="power", step=step)
    with pytest.raises(PowerLost):
        converge(engine)
    engine.power_on()
    decided = is_decided(engine)
    if decided is not None:
        with pytest.raises(NodeError) as error:
            converge(engine, *IMPOSSIBLE)
        assert error.value.rolled_back
    assert (engine.services.get("helper") is not None) == (decided is not False)
    if decided is False:
        assert kept(engine) == before
        assert not engine.machine.disk.is_folder("C:\\helper")
    containerd = engine.services.get("containerd")
    assert containerd is not None
    assert containerd.state == "running"
