"""Rules of Windows' firewall: `firewall.json` has them by name, as `firewall.read` gives them."""

from __future__ import annotations

from typing import Any

from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.table import Apply, Context, Group, Kind, Operation, Result

STATE = "firewall"
_KEYS = ("display_name", "direction", "action", "protocol", "local_ports")

Rule = dict[str, Any]


def _find(context: Context, name: str) -> Rule | None:
    """Return a rule by its name, whatever its case: a value of the registry has its name."""
    rules = context.state(STATE)
    return next((rule for key, rule in rules.items() if key.lower() == name.lower()), None)


def _keep(context: Context, name: str, rule: Rule | None) -> None:
    others = {key: value for key, value in context.state(STATE).items() if key.lower() != name.lower()}
    label = f"remove firewall rule {name}" if rule is None else f"write firewall rule {name}"
    context.keep(STATE, others if rule is None else {**others, name: rule}, label)


def _same(one: Rule, other: Rule) -> bool:
    plain = [{**rule, "local_ports": sorted(rule["local_ports"])} for rule in (one, other)]
    return plain[0] == plain[1]


def _read(context: Context, operation: Operation) -> Result:
    return {"rules": {name: _find(context, name) for name in operation["names"]}}


def _former(context: Context, operation: Operation) -> list[Step]:
    found = _find(context, operation["name"])
    return [Step("firewall", operation["name"], {"existed": found is not None, "rule": found})]


def _write(context: Context, operation: Operation, step: Step) -> Result:
    name = operation["name"]
    rule = {"enabled": True, **{key: operation[key] for key in _KEYS}}
    found = _find(context, name)
    if found is not None and _same(found, rule):
        return {"changed": False}
    step.touched = True
    _keep(context, name, rule)
    return {"changed": True}


def _remove(context: Context, operation: Operation, step: Step) -> Result:
    if _find(context, operation["name"]) is None:
        return {"changed": False}
    step.touched = True
    _keep(context, operation["name"], None)
    return {"changed": True}


def _undo(context: Context, step: Step) -> None:
    if _find(context, step.name) != step.state["rule"]:
        _keep(context, step.name, step.state["rule"])


GROUP = Group(
    reads={"firewall.read": _read},
    applies={"firewall.write": Apply(_write, _former), "firewall.remove": Apply(_remove, _former)},
    kinds={"firewall": Kind(_undo)},
)
