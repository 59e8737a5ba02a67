"""Microsoft Defender's exclusions, and the power scheme."""

from __future__ import annotations

import ntpath
from collections.abc import Sequence

from lockstep.node.operations import exclude_from_defender, read_defender, read_power, write_power
from lockstep.windows.aspect import Aspect, Change, Line, Observed

DEFENDER = read_defender()
POWER = read_power()
# Source: Microsoft Learn, "Power Policy Settings" (GUID_MIN_POWER_SAVINGS, GUID_TYPICAL_POWER_SAVINGS).
SCHEMES = {
    "high_performance": "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c",
    "balanced": "381b4222-f694-41f0-9685-ff5bb260df2e",
}
_WORDS = {guid: name.replace("_", " ") for name, guid in SCHEMES.items()}


def exclusions(processes: Sequence[str], paths: Sequence[str], observed: Observed) -> Aspect:
    """Return what is to be excluded; nothing where there is no Defender, or none that tells."""
    title, found = "Defender exclusions", observed(DEFENDER)
    if not found["present"]:
        return Aspect(title)
    new = [_missing(processes, found["processes"]), _missing(paths, found["paths"])]
    there = [*(f"process {item}" for item in found["processes"]), *(f"path {item}" for item in found["paths"])]
    added = [*(f"process {item}" for item in new[0]), *(f"path {item}" for item in new[1])]
    lines = [*(Line("excluded", text, text) for text in there), *(Line("excluded", None, text) for text in added)]
    if not added:
        return Aspect(title, lines)
    count = f"{len(added)} exclusion{'s' if len(added) > 1 else ''}"
    return Aspect(title, lines, [Change(f"add {count} to Microsoft Defender", exclude_from_defender(*new))])


def power(scheme: str | None, observed: Observed) -> Aspect:
    """Return what is to be done about the power scheme, a GUID; None leaves it alone."""
    found = observed(POWER)["scheme"]
    wanted = scheme if scheme and found else found
    lines = [Line("active", _shown(found), _shown(wanted))] if found else []
    if found == wanted or wanted is None:
        return Aspect("power scheme", lines)
    return Aspect("power scheme", lines, [Change(f"activate power scheme {_shown(wanted)}", write_power(wanted))])


def _missing(wanted: Sequence[str], there: Sequence[str]) -> list[str]:
    known = {ntpath.normcase(item.rstrip("\\")) for item in there}
    return [item for item in wanted if ntpath.normcase(item.rstrip("\\")) not in known]


def _shown(scheme: str | None) -> str:
    return _WORDS.get(scheme or "", str(scheme))
