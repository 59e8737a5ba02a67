"""Programs: run to their end, told what they said."""

from __future__ import annotations

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.programs import resolve, run
from lockstep.sim.agent.table import Apply, Context, Group, Operation, Result

_STDERR_LIMIT = 64 * 1024
_OUTPUT_LIMIT = 4000
_PAUSE = 0.5


def _run(context: Context, operation: Operation) -> Result:
    path = resolve(context.machine, context.services, operation)
    if path is None:
        return {"found": False}
    done = run(context.machine, path, list(operation.get("arguments", ())), operation["timeout_seconds"])
    return {"found": True, "program": path, **done._asdict(), "stderr": done.stderr[:_STDERR_LIMIT]}


def _check(context: Context, operation: Operation, _: Step) -> Result:
    clock, limit = context.machine.clock, operation["timeout_seconds"]
    began, attempts = clock.now(), 0
    while True:
        attempts += 1
        path = resolve(context.machine, context.services, operation)
        if path is None:
            named = " ".join(operation[key] for key in ("path", "service", "sibling") if key in operation)
            raise OperationError("missing", f"There is no program {named}")
        left = max(1.0, limit - (clock.now() - began))
        done = run(context.machine, path, list(operation.get("arguments", ())), left)
        absent = [text for text in operation["must_contain"] if text not in done.stdout]
        if done.exit_code == 0 and not done.timed_out and not absent:
            return {"attempts": attempts}
        if clock.now() - began + _PAUSE >= limit:
            break
        clock.sleep(_PAUSE)
    reason = f"ended with exit code {done.exit_code}"
    if done.timed_out:
        reason = "did not end in time"
    elif done.exit_code == 0:
        reason = f"does not show {', '.join(absent)}"
    shown = (done.stdout + done.stderr).strip()[-_OUTPUT_LIMIT:]
    message = f"{path} {reason}, after {attempts} attempts in {limit} s."
    raise OperationError("check_failed", message, exit_code=done.exit_code, output=shown)


GROUP = Group(reads={"program.run": _run}, applies={"program.check": Apply(_check)})
