"""Words in messages: shortened, masked, and the one that was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import lru_cache

MASK = "********"
"""What is shown in place of a secret."""
_LINE_BREAK = re.compile(r"\s*[\r\n]\s*")
_CLOSE_ENOUGH = 0.6
_CANDIDATES = 5
_LETTERS_A_SLIP = 8
_TOO_LONG = 100


def shortened(text: str, limit: int = 60) -> str:
    """Return text for a message: one line, not longer than `limit` characters."""
    line = _LINE_BREAK.sub(" ", text)
    return line if len(line) <= limit else line[: limit - 1] + "…"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is spelt nearest to `word`, in any letter case, or None where none is near."""
    return _nearest(word, tuple(known))


def misspelt(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that `word` is a slip of the pen or two for, or None: for names of which many are alike."""
    near = nearest(word, known)
    slips = _slips(word.lower(), near.lower()) if near else 0
    return near if slips <= 1 + len(word) // _LETTERS_A_SLIP else None


@lru_cache(maxsize=256)
def _nearest(word: str, known: tuple[str, ...]) -> str | None:
    by_lower = {candidate.lower(): candidate for candidate in known}
    lowered = word.lower()
    if lowered in by_lower:
        return by_lower[lowered]
    if len(word) > _TOO_LONG:
        return None
    close = difflib.get_close_matches(lowered, by_lower, n=_CANDIDATES, cutoff=_CLOSE_ENOUGH)
    return by_lower[min(close, key=lambda candidate: _slips(lowered, candidate))] if close else None


def _slips(word: str, other: str) -> int:
    """Return how many slips of the pen lie between two words: a letter more, less, wrong, or two swapped."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        earlier, before, row = before, row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and (letter, word[i - 2]) == (other[j - 2], wanted):
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]
