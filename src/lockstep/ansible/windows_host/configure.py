"""What a windows_host task does: refuse a node that cannot be one, change what differs, restart where needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lockstep.ansible.errors import TaskError, listed
from lockstep.ansible.node import System, file_diff, read
from lockstep.ansible.windows_host.arguments import needs_of, refuse_wrong_arguments, settings_of
from lockstep.ansible.windows_host.changes import Done, Job, planned, restart_text
from lockstep.ansible.windows_host.restart import LABEL, Wait
from lockstep.node.operations import Operation
from lockstep.node.session import Session
from lockstep.windows import host
from lockstep.windows.aspect import Aspect, Observed
from lockstep.windows.machine import CLOCK_SKEW_SECONDS, clock_skew
from lockstep.windows.names import node_name
from lockstep.windows.preflight import Site, problems
from lockstep.windows.problem import Problem


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a task can do besides talking to its node.

    `reconnect` makes a new connection to it. `claim` takes a node's name for this host, and returns the host of this
    run that has it already, or None.
    """

    reconnect: Callable[[], None]
    claim: Callable[[str], str | None]


def read_operations(arguments: Mapping[str, Any]) -> list[Operation]:
    """Return what a task with these arguments asks of its node, in one request."""
    return host.operations(settings_of(arguments))


def prepare(
    session: Session, arguments: Mapping[str, Any], around: Surroundings, *, check_mode: bool
) -> dict[str, Any]:
    """Return the task's result; the node is changed unless in check mode or nothing is to be done.

    Raises TaskError where the node cannot be one of its pool, or where a change or the restart fails.
    """
    refuse_wrong_arguments(arguments)
    observed = _look(session, read_operations(arguments))
    system = System.of(observed(host.SYSTEM))
    warnings = _judge(arguments, around, observed)
    settings = settings_of(arguments)
    plan = host.compare(settings, observed)
    wait = Wait(arguments["reboot_timeout"], around.reconnect)
    job = Job(session, settings, system, arguments["reboot"], wait)
    expected = job.plan(observed) if check_mode else planned(job, observed)
    done = expected if check_mode else job.carry_out(observed)
    restart = restart_text(expected, arguments["reboot"])
    told = {"msg": f"Windows would be restarted, because of {', '.join(done.needed)}"} if LABEL in done.steps else {}
    return {
        **(told if check_mode else {}),
        "changed": bool(done.steps),
        "node": system.data(),
        "features": done.features,
        "steps": done.steps,
        "restart_needed": bool(done.needed),
        "restart_reasons": done.needed,
        "restarted": not check_mode and LABEL in done.steps,
        "warnings": [*warnings, *plan.warnings, *_waiting(done, check_mode=check_mode)],
        "diff": [*map(_diff, plan.different), *([file_diff("restart of Windows", "", restart)] if restart else [])],
    }


def _look(session: Session, operations: list[Operation]) -> Observed:
    """Return what one read of the node shows. Raises TaskError where it cannot be read."""
    observed = Observed.of(operations, read(session, operations))
    # What was read a while ago tells of a clock that is behind by that: ask again before anybody is told of it.
    if session.remembered and clock_skew(observed(host.MACHINE), datetime.now(UTC)) < -CLOCK_SKEW_SECONDS:
        session.forget()
        observed = Observed.of(operations, read(session, operations))
    return observed


def _judge(arguments: Mapping[str, Any], around: Surroundings, observed: Observed) -> list[str]:
    """Return what is questionable about the node. Raises TaskError with everything that refuses it."""
    name = arguments["node_name"]
    other = around.claim(node_name(observed(host.SYSTEM), name))
    site = Site(arguments["host"], other, datetime.now(UTC), name)
    found = problems(settings_of(arguments), needs_of(arguments), site, observed)
    refusing = [problem for problem in found if problem.refuses and problem.check not in arguments["accept"]]
    if refusing:
        facts = {
            "node": str(System.of(observed(host.SYSTEM))),
            "do": "correct it, or, where you know better, name the check in brackets in windows_host_accept",
        }
        raise TaskError(
            listed("this node cannot be one of its pool, so nothing was touched:", map(_line, refusing)), facts
        )
    return [_line(problem) for problem in found]


def _waiting(done: Done, *, check_mode: bool) -> list[str]:
    """Return that somebody has to restart Windows."""
    if not done.needed or LABEL in done.steps:
        return []
    reasons = ", ".join(done.needed)
    if not check_mode:
        return [f"Windows waits for a restart, because of {reasons}: restart the node, then run again"]
    ends = "without --check this host's play ends here; what follows is done by the run after the restart"
    return [f"Windows would wait for a restart, because of {reasons}: {ends}"]


def _diff(aspect: Aspect) -> dict[str, str]:
    return file_diff(aspect.title, aspect.text(after=False), aspect.text(after=True))


def _line(problem: Problem) -> str:
    return f"{problem.text} [{problem.check}]: {problem.do}"
