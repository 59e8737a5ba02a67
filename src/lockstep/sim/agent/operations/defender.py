"""Microsoft Defender's exclusions: `defender.json` has them, as `defender.read` gives them."""

from __future__ import annotations

from typing import Any

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.table import Apply, Context, Group, Kind, Operation, Result

STATE = "defender"
_LISTS = ("processes", "paths")


def _state(context: Context) -> dict[str, Any]:
    return {"present": True, "processes": [], "paths": [], **context.state(STATE)}


def _new(state: Result, operation: Operation) -> dict[str, list[str]]:
    """Return those of an operation that are not there yet, whatever their case."""
    there = {key: {text.lower() for text in state[key]} for key in _LISTS}
    return {key: [text for text in operation[key] if text.lower() not in there[key]] for key in _LISTS}


def _read(context: Context, _: Operation) -> Result:
    state = _state(context)
    return state if state["present"] else {"present": False, "processes": [], "paths": []}


def _former(context: Context, operation: Operation) -> list[Step]:
    name = ", ".join([*operation["processes"], *operation["paths"]])
    return [Step("exclusions", name, _new(_state(context), operation))]


def _exclude(context: Context, operation: Operation, step: Step) -> Result:
    state = _state(context)
    if not state["present"]:
        raise OperationError("missing", "There is no Microsoft Defender here, or it does not tell its exclusions.")
    new = _new(state, operation)
    if not any(new.values()):
        return {"changed": False}
    step.touched = True
    context.keep(STATE, {**state, **{key: state[key] + new[key] for key in _LISTS}}, "add exclusions to Defender")
    return {"changed": True}


def _undo(context: Context, step: Step) -> None:
    state = _state(context)
    left = {key: [text for text in state[key] if text not in step.state[key]] for key in _LISTS}
    context.keep(STATE, {**state, **left}, "take exclusions from Defender")


GROUP = Group(
    reads={"defender.read": _read},
    applies={"defender.exclude": Apply(_exclude, _former)},
    kinds={"exclusions": Kind(_undo)},
)
