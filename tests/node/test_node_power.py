"""On the Windows stand-in: the agent is killed, or the plug pulled, in the middle of an apply; then again."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.node.support import interruption
from tests.node.support.cases import TRANSACTIONS, ServiceBefore
from tests.node.support.operator import Operator
from tests.node.support.standin import Node

from lockstep.node.session import Session
from lockstep.node.wire import command_line, envelope

pytestmark = [pytest.mark.windows, pytest.mark.slow]

CHANGES = 48
"""About how many changes an apply makes; before every single one is what test_node_interrupted.py shows."""


@contextmanager
def _prepared(node: Node, operator: Operator) -> Iterator[None]:
    files, service = operator.before()
    folder = node.place(operator.config).parent
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path, data in files.items():
        node.place(path).write_bytes(data)
    node.prepare([ServiceBefore(service.name, service.binary_path, running=True, automatic=True)])
    try:
        yield
    finally:
        node.program("forget", operator.name)


def _input(node: Node, operator: Operator, at: int, how: str) -> bytes:
    request = {"mode": "apply", "transaction": operator.name, "operations": operator.plan(Session(node.run))}
    return envelope(interruption.agent(at, how), request)


def _assert_planned_after_another_run(node: Node, operator: Operator) -> None:
    operator.carry_out(Session(node.run))
    places = [*node.place(operator.config).parent.iterdir(), *node.place(TRANSACTIONS).glob(f"{operator.name}*")]
    assert {node.path(place): place.read_bytes() for place in places} == operator.files_after()
    now = node.states([operator.name])[operator.name]
    assert (now.state, now.binary_path) == ("running", operator.command_line(planned=True))
    assert operator.carry_out(Session(node.run)) is None


@pytest.mark.parametrize("at", range(2, CHANGES, 4))
def test_killed(node: Node, at: int) -> None:
    operator = Operator(f"killed-{at}")
    with _prepared(node, operator):
        done = node.run(command_line(), _input(node, operator, at, interruption.DIE))
        assert done.stdout == ""
        _assert_planned_after_another_run(node, operator)


@pytest.mark.parametrize("at", range(3, CHANGES, 7))
def test_plug_pulled(node: Node, at: int) -> None:
    operator = Operator(f"unplugged-{at}")
    with _prepared(node, operator):
        marker = node.place(f"C:\\{operator.name}.reached")
        how = f"[IO.File]::WriteAllText('C:\\{marker.name}', ''); Start-Sleep -Seconds 3600"
        process = node.begin(command_line(), _input(node, operator, at, how))
        _wait_for(marker)
        node.power("stop")
        process.wait(timeout=60)
        marker.unlink()
        node.power("start")
        _assert_planned_after_another_run(node, operator)


def _wait_for(marker: Path) -> None:
    deadline = time.monotonic() + 60
    while not marker.exists():
        assert time.monotonic() < deadline, "the apply did not get that far"
        time.sleep(0.05)
