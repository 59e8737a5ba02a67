"""All operations of a simulated node: one module a group, each with its GROUP; a new one is found by being here."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from importlib import import_module

from lockstep.sim.agent.table import Apply, Group, Kind, Read

_GROUPS: tuple[Group, ...] = tuple(
    import_module(f"{__name__}.{module.name}").GROUP for module in pkgutil.iter_modules(__path__)
)

READS: Mapping[str, Read] = {op: read for group in _GROUPS for op, read in group.reads.items()}
APPLIES: Mapping[str, Apply] = {op: apply for group in _GROUPS for op, apply in group.applies.items()}
KINDS: Mapping[str, Kind] = {name: kind for group in _GROUPS for name, kind in group.kinds.items()}
