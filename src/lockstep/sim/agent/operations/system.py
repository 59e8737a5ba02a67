"""Windows itself."""

from __future__ import annotations

from lockstep.sim.agent.table import Context, Group, Operation, Result


def _read(context: Context, _: Operation) -> Result:
    facts = context.machine.facts
    return {"build": facts.build, "product": facts.product, "computer_name": facts.computer_name}


GROUP = Group(reads={"system.read": _read})
