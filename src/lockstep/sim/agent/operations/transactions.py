"""Whether an apply was cut short."""

from __future__ import annotations

from lockstep.sim.agent.journal import pending
from lockstep.sim.agent.table import Context, Group, Operation, Result


def _read(context: Context, operation: Operation) -> Result:
    return {"pending": pending(context.files, operation["name"])}


GROUP = Group(reads={"transaction.read": _read})
