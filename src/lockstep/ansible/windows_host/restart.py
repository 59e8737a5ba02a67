"""Restarting Windows on a node, and waiting until it is back."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import Step, System, apply
from lockstep.node.errors import AgentError, NodeError
from lockstep.node.operations import Operation, Result, restart_system
from lockstep.node.session import Session
from lockstep.windows.host import MACHINE, TRANSACTION

LABEL = "restart Windows"
_DELAY_SECONDS = 5
"""Until Windows goes down: the answer has to arrive before that, from a slow machine over a slow line too."""
_PAUSE_SECONDS = 2.0
_SETTLE_SECONDS = 8.0
"""How long Windows is left alone where it may restart once more by itself: shorter than a boot, so none is missed."""


@dataclass(frozen=True, slots=True)
class Wait:
    """How a restart is waited for: at most so many seconds; `reconnect` makes a new connection."""

    seconds: int
    reconnect: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Back:
    """When the node is back: with `settled` answers to `operations`, and `twice` from one boot, some seconds apart."""

    operations: Sequence[Operation]
    settled: Callable[[list[Result]], bool]
    twice: bool = False


@dataclass(slots=True)
class _Seen:
    """A node's answers, when they came (in seconds of time.monotonic), and how long Windows was up then."""

    results: list[Result]
    at: float
    up: float

    def same_boot(self, later: _Seen) -> bool:
        """Return whether Windows was not restarted in between; a boot takes longer than half of the time."""
        return later.up - self.up >= (later.at - self.at) / 2


@dataclass(slots=True)
class _Restart:
    """A restart under way. `unsure`: the connection broke before the node had answered that it will restart."""

    session: Session
    system: System
    reasons: Sequence[str]
    wait: Wait
    marker: str
    sent: float = 0.0
    unsure: bool = False
    said: str = ""

    def send(self) -> None:
        """Have Windows restart. A connection that breaks is no failure: Windows may be down already."""
        text = f"Lockstep restarts Windows, which waits for it: {', '.join(self.reasons)}"
        step = Step(LABEL, restart_system(self.marker, reason=text, delay_seconds=_DELAY_SECONDS))
        self.sent = time.monotonic()
        try:
            apply(self.session, TRANSACTION, [step], self.system, "Windows")
        except TaskError as error:
            cause = error.__cause__
            if isinstance(cause, NodeError):
                raise _refused(self.system, self.reasons, cause) from error
            if not isinstance(cause, AgentError):
                raise
            self.unsure, self.said = True, str(cause)
        # Until it goes down there is nothing to ask for.
        time.sleep(_DELAY_SECONDS)

    def ask(self, operations: Sequence[Operation]) -> _Seen | None:
        """Return what the node answers after the restart; None while it is down, or has not gone down yet."""
        asked = time.monotonic()
        try:
            self.wait.reconnect()
            results = self.session.read(operations)
        except NodeError as error:
            # It is there, but not everything of Windows is up.
            self.said = f"{error.operation} {error.subject}: {error.message}"
            return None
        except Exception as error:  # noqa: BLE001 - connections raise what the libraries below them raise, all kinds
            self.said = str(error)
            return None
        machine = results[list(operations).index(MACHINE)]
        up = machine["uptime_ms"] / 1000
        if machine["boot_marker"] == self.marker:
            self.said = "it has not gone down yet"
            return None
        if self.unsure and up > asked - self.sent:
            # Windows booted before it was told to restart: it has not heard of it.
            self.unsure = False
            self.send()
            return None
        self.unsure = False
        return _Seen(results, time.monotonic(), up)


def restart(session: Session, system: System, reasons: Sequence[str], wait: Wait, back: Back) -> list[Result]:
    """Restart Windows, and return what the node answers when it is back and has settled, or when time is up.

    Windows restarts once more by itself for some features, so being back is not all. Raises TaskError where the node
    does not come back in time, or refuses to restart.
    """
    under_way = _Restart(session, system, reasons, wait, f"lockstep {uuid.uuid4().hex}")
    under_way.send()
    first: _Seen | None = None
    seen: _Seen | None = None
    deadline = time.monotonic() + wait.seconds
    pause = _PAUSE_SECONDS
    while time.monotonic() < deadline:
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        seen, pause = under_way.ask(back.operations), _PAUSE_SECONDS
        if seen is None or not back.settled(seen.results):
            first = None
        elif not back.twice or (first is not None and first.same_boot(seen)):
            break
        else:
            first, pause = seen, _SETTLE_SECONDS
    if seen is None:
        raise _never_back(system, reasons, wait.seconds, under_way.said)
    return seen.results


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
