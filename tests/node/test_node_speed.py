"""What a request costs on the stand-in beside the start of PowerShell; the figures are in the summary of the run."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

import pytest
from tests.node.support.cases import PROGRAM, ServiceBefore
from tests.node.support.standin import Node

from lockstep.node.operations import read_file, read_service, read_transaction, restart_service, write_file
from lockstep.node.session import Session

ROUNDS = 4
FOLDER = "C:\\speed"


def _seconds(action: Callable[[], object]) -> float:
    began = time.monotonic()
    action()
    return time.monotonic() - began


@pytest.mark.windows
def test_an_apply_takes_at_most_twice_the_start_of_powershell(node: Node, figures: list[str]) -> None:
    path, config = f"{FOLDER}\\a.toml", f"{FOLDER}\\web.conf"
    node.place(path).parent.mkdir(exist_ok=True)
    node.place(config).write_bytes(b"run")
    node.prepare([ServiceBefore("speed", f"{PROGRAM} service speed {config}", running=True)])
    session = Session(node.run)
    start = node.powershell("-NoProfile", "-NonInteractive", "-Command", "1")
    found: dict[str, list[float]] = {}
    for round_ in range(ROUNDS):
        old, new = f"{round_}".encode(), f"{round_} new".encode()
        node.place(path).write_bytes(old)
        actions: dict[str, Callable[[], object]] = {
            "PowerShell's own start": lambda: subprocess.run(
                start, stdin=subprocess.DEVNULL, capture_output=True, check=True
            ),
            "a read (file, service, transaction)": lambda: session.read(
                [read_file(path), read_service("speed"), read_transaction("speed")]
            ),
            "an apply (file)": lambda: session.apply("speed", [write_file(path, new, replaces=old)]),  # noqa: B023 - run in this round
            "an apply (service restarted)": lambda: session.apply(
                "speed", [restart_service("speed", timeout_seconds=20, settle_seconds=0)]
            ),
        }
        for name, action in actions.items():
            found.setdefault(name, []).append(_seconds(action))
    node.program("forget", "speed")
    figures += [f"{min(times):5.2f} s  {name}" for name, times in found.items()]
    assert min(found["an apply (file)"]) < 2 * min(found["PowerShell's own start"])
