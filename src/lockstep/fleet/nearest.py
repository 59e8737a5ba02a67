"""The word that was probably meant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_CLOSE_ENOUGH = 0.6
_TOO_LONG = 100


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is spelt nearest to `word`, in any letter case, or None where none is near."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    lowered = word.lower()
    if lowered in by_lower:
        return by_lower[lowered]
    if len(word) > _TOO_LONG:
        return None
    close = difflib.get_close_matches(lowered, by_lower, n=1, cutoff=_CLOSE_ENOUGH)
    return by_lower[close[0]] if close else None
