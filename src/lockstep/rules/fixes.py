"""Fixes that are certain: texts put in the stead of what findings are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lockstep.finding import Finding
from lockstep.rules.given.text_places import TextPlaces


def fixed(findings: Iterable[Finding], sources: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Return the new text of each file that has a certain fix, and how many of its findings that settles.

    Of two fixes that overlap the first in the file is made; the other is found again by the next check.
    """
    wanted: dict[str, list[tuple[int, int, str]]] = {}
    for finding in findings:
        place = finding.place
        if finding.replacement is not None and place is not None and place.file in sources:
            start = TextPlaces(place.file, sources[place.file]).index(place.line, place.column)
            wanted.setdefault(place.file, []).append((start, start + place.length, finding.replacement))
    return {file: _edited(sources[file], edits) for file, edits in wanted.items()}


def _edited(text: str, edits: list[tuple[int, int, str]]) -> tuple[str, int]:
    pieces, at, made = [], 0, 0
    for start, end, new in sorted(edits):
        if start >= at:
            pieces += [text[at:start], new]
            at, made = end, made + 1
    return "".join(pieces) + text[at:], made
