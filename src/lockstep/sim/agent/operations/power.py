"""The active power scheme: `power.json` has it, and those that there are."""

from __future__ import annotations

from typing import Any

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.table import Apply, Context, Group, Kind, Operation, Result

STATE = "power"
BALANCED = "381b4222-f694-41f0-9685-ff5bb260df2e"
# Source: Microsoft Learn, "Power Policy Settings" (GUID_MIN_POWER_SAVINGS, GUID_MAX_POWER_SAVINGS, GUID_TYPICAL_…).
SCHEMES = (BALANCED, "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c", "a1841308-3541-4fab-bc81-f71556f20b4a")


def _state(context: Context) -> dict[str, Any]:
    return {"scheme": BALANCED, "schemes": list(SCHEMES), **context.state(STATE)}


def _read(context: Context, _: Operation) -> Result:
    return {"scheme": _state(context)["scheme"]}


def _former(context: Context, operation: Operation) -> list[Step]:
    return [Step("power", "the active scheme", _read(context, operation))]


def _activate(context: Context, scheme: str) -> None:
    state = _state(context)
    if scheme not in state["schemes"]:
        words = 'powercfg.exe ended with 1, Invalid Parameters -- try "/?" for help'
        raise OperationError(
            "missing", f"Windows has no power scheme {scheme} that it could make the active one: {words}"
        )
    context.keep(STATE, {**state, "scheme": scheme}, f"activate power scheme {scheme}")


def _write(context: Context, operation: Operation, step: Step) -> Result:
    if _state(context)["scheme"] == operation["scheme"]:
        return {"changed": False}
    step.touched = True
    _activate(context, operation["scheme"])
    return {"changed": True}


def _undo(context: Context, step: Step) -> None:
    if step.state["scheme"] and _state(context)["scheme"] != step.state["scheme"]:
        _activate(context, step.state["scheme"])


GROUP = Group(
    reads={"power.read": _read}, applies={"power.write": Apply(_write, _former)}, kinds={"power": Kind(_undo)}
)
