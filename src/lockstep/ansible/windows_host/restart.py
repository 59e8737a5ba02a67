"""Restarting Windows on a node, and waiting until it is back."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import Step, System, apply
from lockstep.node.errors import NodeError
from lockstep.node.operations import Operation, Result, restart_system
from lockstep.node.session import Session
from lockstep.windows.host import MACHINE, TRANSACTION

LABEL = "restart Windows"
_DELAY_SECONDS = 5
"""Until Windows goes down: the answer has to arrive before that, from a slow machine over a slow line too."""
_PAUSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Wait:
    """How a restart is waited for: at most so many seconds; `reconnect` makes a new connection."""

    seconds: int
    reconnect: Callable[[], None]


def restart(
    session: Session,
    system: System,
    reasons: Sequence[str],
    wait: Wait,
    *,
    operations: Sequence[Operation],
    settled: Callable[[list[Result]], bool],
) -> list[Result]:
    """Restart Windows, and return what the node answers when it is back and has settled, or when time is up.

    Windows restarts once more by itself for some features, so being back is not all. Raises TaskError where the node
    does not come back in time, or refuses to restart.
    """
    marker = f"lockstep {uuid.uuid4().hex}"
    text = f"Lockstep restarts Windows, which waits for it: {', '.join(reasons)}"
    step = Step(LABEL, restart_system(marker, reason=text, delay_seconds=_DELAY_SECONDS))
    try:
        apply(session, TRANSACTION, [step], system, "Windows")
    except TaskError as error:
        if isinstance(error.__cause__, NodeError):
            raise _refused(system, reasons, error.__cause__) from error
        raise
    # Until it goes down there is nothing to ask for.
    time.sleep(_DELAY_SECONDS)
    said, back = "", None
    machine = list(operations).index(MACHINE)
    deadline = time.monotonic() + wait.seconds
    while time.monotonic() < deadline:
        time.sleep(min(_PAUSE_SECONDS, max(0.0, deadline - time.monotonic())))
        results, said = _asked(session, operations, wait)
        if results and results[machine]["boot_marker"] == marker:
            said = "it has not gone down yet"
        elif results:
            back = results
            if settled(results):
                break
    if back is None:
        raise _never_back(system, reasons, wait.seconds, said)
    return back


def _asked(session: Session, operations: Sequence[Operation], wait: Wait) -> tuple[list[Result], str]:
    """Return what the node answers, nothing where it does not yet; and why it does not."""
    try:
        wait.reconnect()
        return session.read(operations), ""
    except NodeError as error:
        # It is there, but not everything of Windows is up.
        return [], f"{error.operation} {error.subject}: {error.message}"
    # Connections raise what the libraries below them raise, requests' and others' errors among that.
    except Exception as error:  # noqa: BLE001
        return [], str(error)


def _refused(system: System, reasons: Sequence[str], error: NodeError) -> TaskError:
    step = f"{LABEL}, because of {', '.join(reasons)}"
    do = "restart the node by hand, then run again, which goes on from there"
    facts = {"node": str(system), "step": step, "it said": error.message, "do": do}
    return TaskError("everything else is done, but Windows refuses to restart", facts, {"changed": True})


def _never_back(system: System, reasons: Sequence[str], seconds: int, said: str) -> TaskError:
    do = (
        "look at the machine's console: Windows may still be configuring features, or wait for somebody. When it is "
        "back, run again, which goes on from there; lockstep_reboot_timeout gives it longer"
    )
    message = f"Windows was to restart, and was not back after {seconds} s"
    first = "".join(said.strip().splitlines()[:1])
    step = f"{LABEL}, because of {', '.join(reasons)}"
    facts = {"node": str(system), "step": step, "it said": first, "do": do}
    return TaskError(message, facts, {"changed": True})
