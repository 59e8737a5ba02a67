"""Access lists in SDDL, compared by what they grant and not by how they are written.

Source: Microsoft Learn, "Security Descriptor String Format", "ACE Strings", "SID Strings".
"""

from __future__ import annotations

import re
from collections.abc import Mapping

ADMINISTRATORS = "D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
"""SYSTEM and administrators alone, inherited by all below; nothing comes from the folder above."""
USERS_READ = f"{ADMINISTRATORS}(A;OICI;0x1200a9;;;BU)"
"""Besides, users may read and run what is there."""
NAMES: Mapping[str, str | None] = {"administrators": ADMINISTRATORS, "users_read": USERS_READ, "inherited": None}
"""The words for access lists; inherited leaves a folder's own alone."""

_FORM = re.compile(r"(?:O:[A-Z0-9-]+)?(?:G:[A-Z0-9-]+)?D:(?P<flags>[A-Z]*)(?P<aces>(?:\([^()]*\))*)(?:S:.*)?")
_RIGHTS = {"FA": "0x1f01ff", "FR": "0x120089", "FW": "0x120116", "FX": "0x1200a0", "GA": "0x10000000"}
_SIDS = {
    "SY": "S-1-5-18",
    "BA": "S-1-5-32-544",
    "BU": "S-1-5-32-545",
    "AU": "S-1-5-11",
    "WD": "S-1-1-0",
    "CO": "S-1-3-0",
}
_ACE_PARTS = 6


def granted(sddl: str) -> tuple[bool, frozenset[tuple[str, ...]]] | None:
    """Return whether nothing comes from above, and all entries in one spelling; None for text that is no list."""
    match = _FORM.fullmatch(sddl)
    if match is None:
        return None
    aces = []
    for ace in re.findall(r"\(([^()]*)\)", match["aces"]):
        parts = ace.split(";")
        if len(parts) < _ACE_PARTS:
            return None
        kind, flags, rights, *objects, sid = parts
        pairs = tuple(sorted(re.findall("..", flags)))
        aces.append((kind, *pairs, _RIGHTS.get(rights, rights.lower()), *objects, _SIDS.get(sid, sid)))
    return "P" in match["flags"], frozenset(aces)


def same(one: str | None, other: str) -> bool:
    """Return whether two lists grant the same; None, where there is nothing to be granted, is like no list."""
    if one is None:
        return False
    left, right = granted(one), granted(other)
    return left == right if left is not None and right is not None else one == other


def problem(sddl: str) -> str | None:
    """Return why text is no access list, or None where it is."""
    if granted(sddl) is not None:
        return None
    return f"'{sddl}' is no access list in SDDL: expected {', '.join(NAMES)}, or one such as {ADMINISTRATORS}"
