"""Interrupted before each change of an apply, and run again: the planned state, nothing lost, nothing left behind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.node.support import interruption, registry
from tests.node.support.linux import Host, LinuxBench
from tests.node.support.operator import USERS_TEXT, Operator

from lockstep.node.contract import check_request
from lockstep.node.errors import NodeError
from lockstep.node.session import Session
from lockstep.node.wire import command_line, envelope

NAME = "interrupted"
pytestmark = [pytest.mark.windows, pytest.mark.slow]


def _benches(host: Host, folder: Path) -> Iterator[tuple[int, LinuxBench]]:
    """A node before the apply, and the number of the change to be interrupted, without end."""
    files, service = Operator(NAME).before()
    for at in range(1, 200):
        place = folder / str(at)
        place.mkdir()
        bench = LinuxBench(host, place)
        for path, data in files.items():
            bench.write(path, data)
        bench.add_service(service, process_id=4004)
        yield at, bench


def _interrupted(bench: LinuxBench, operator: Operator, at: int) -> bool:
    """Plan, and begin to apply; whether there were so many changes that it was interrupted."""
    operations = operator.plan(Session(bench.run))
    if not operations:
        return False
    request = {"mode": "apply", "transaction": NAME, "operations": operations}
    check_request(request)
    script = interruption.agent(at, interruption.TRIP_WIRE)
    return bool(bench.order(command_line(), envelope(script, request))["tripped"])


def _files(bench: LinuxBench) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes()
        for path in bench.folder.iterdir()
        if path.is_file() and not path.name.endswith(".exe") and not path.name.startswith("C:\\lockstep-stubs\\")
    }


def _assert_planned(bench: LinuxBench, at: str) -> None:
    operator = Operator(NAME)
    assert _files(bench) == operator.files_after(), f"interrupted {at}"
    service = bench.services([NAME])[NAME]
    assert (service.state, service.binary_path) == ("running", operator.command_line(planned=True)), at
    assert operator.carry_out(Session(bench.run)) is None, "a further run has nothing to do"


def test_interrupted_once(host: Host, tmp_path: Path) -> None:
    count = 0
    for at, bench in _benches(host, tmp_path):
        if not _interrupted(bench, Operator(NAME), at):
            break
        count = at
        Operator(NAME).carry_out(Session(bench.run))
        _assert_planned(bench, f"before change {at}")
    assert count > 30


def test_interrupted_twice(host: Host, tmp_path: Path) -> None:
    for at, bench in _benches(host, tmp_path):
        if not _interrupted(bench, Operator(NAME), at):
            break
        # The second run is interrupted early, in the middle and late, in turn.
        again = (at * 7) % 37 + 1
        _interrupted(bench, Operator(NAME), again)
        Operator(NAME).carry_out(Session(bench.run))
        _assert_planned(bench, f"before change {at}, then before change {again}")


def test_interrupted_while_it_is_undone(host: Host, tmp_path: Path) -> None:
    impossible = Operator(NAME, check="never shown")
    before, service = impossible.before()
    for at, bench in _benches(host, tmp_path):
        if not _interrupted(bench, impossible, at):
            break
        with pytest.raises(NodeError) as failed:
            impossible.carry_out(Session(bench.run))
        assert failed.value.code == "check_failed", f"before change {at}: {failed.value}"
        assert failed.value.rolled_back, f"before change {at}: {failed.value}"
        kept = {name: data for name, data in _files(bench).items() if not name.endswith(".rejected")}
        assert kept == before, f"interrupted before change {at}"
        now = bench.services([NAME])[NAME]
        assert (now.state, now.binary_path) == ("running", service.binary_path), f"before change {at}"
        keys = json.loads((bench.folder / registry.FILE).read_text())
        assert not [key for key in keys if NAME in key and not key.endswith(f"Services\\{NAME}")], f"before change {at}"
        assert not [key for key in keys if "Environment" in keys[key]], f"before change {at}"
        Operator(NAME).carry_out(Session(bench.run))
        _assert_planned(bench, f"before change {at}, then undone")
        assert USERS_TEXT in _files(bench)[Operator(NAME).config]
