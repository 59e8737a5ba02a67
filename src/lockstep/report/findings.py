"""Findings for people: the place, the lines around it, a caret, what was expected and what to do."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TextIO

from lockstep.finding import Finding, Place, Severity, lines
from lockstep.fleet.load import Loaded, order
from lockstep.report.pages import title
from lockstep.rules.checked import Checked, checked

WIDTH = 80
_GUTTER = 4
_CONTEXT = 30
_RED, _YELLOW, _BOLD, _RESET = "\033[31m", "\033[33m", "\033[1m", "\033[0m"
_COLOURS = {Severity.ERROR: _RED, Severity.WARNING: _YELLOW}


def report(loaded: Loaded, *, stream: TextIO) -> str:
    """Return everything that is wrong with a description, as text for `stream`, and a line that sums it up."""
    return show(checked(loaded), stream=stream, explain=False)


def show(found: Checked, *, stream: TextIO, explain: bool = True) -> str:
    """Return what a check found as text for `stream`: the findings, the notes, and a line that sums it up.

    With `explain` the first finding of each rule that has a page says how to read it.
    """
    findings = render_all(found.findings, found.sources, stream=stream, explain=explain)
    notes = "".join(f"{line}\n" for note in found.notes for line in _note(_printable(note)))
    return "\n".join(filter(None, [findings, _for(stream, notes), summary(found)]))


def render_all(
    findings: Sequence[Finding], sources: Mapping[str, str], *, stream: TextIO, explain: bool = False
) -> str:
    """Return findings as text for `stream`, ordered by file, line, column and rule."""
    colour = wants_colour(stream)
    texts = {file: lines(text) for file, text in sources.items()}
    explained: set[str] = set()
    shown = []
    for finding in sorted(findings, key=order):
        page = explain and finding.rule not in explained and title(finding.rule) is not None
        explained.add(finding.rule)
        shown.append(_render(finding, texts, colour=colour, page=page))
    return _for(stream, "\n".join(shown))


def _for(stream: TextIO, text: str) -> str:
    """Return text of which the stream can write every character."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def _note(note: str) -> list[str]:
    return _wrapped(note, start="note:", indent="  ")


def wants_colour(stream: TextIO) -> bool:
    """Return whether a stream shows colour: a terminal that can, and a user who did not forbid it (NO_COLOR)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def summary(found: Checked) -> str:
    """Return how many errors and warnings there are, and in what."""
    parts = [f"{_counted(found.errors, 'error')}, {_counted(found.warnings, 'warning')}"]
    if found.sources:
        parts.append(f"in {_counted(len(found.sources), 'file')}")
    counted = [_counted(found.pools, "pool")] if found.pools else []
    if found.pools or found.classes:
        parts.append(f"({', '.join([*counted, _counted(found.classes, 'class', 'classes')])})")
    silenced = f"; {found.suppressed} suppressed" if found.suppressed else ""
    return " ".join(parts) + silenced + "\n"


def _render(finding: Finding, texts: Mapping[str, list[str]], *, colour: bool, page: bool = False) -> str:
    """Return one finding as text: a headline, the lines around its place, hint and fix, and where more is said."""
    paint = partial(_paint, on=colour)
    head, severity = _head(finding), finding.severity.value
    first, *rest = _wrapped(_printable(finding.message), start=f"{head}{severity} {finding.rule}", indent="  ")
    weight = _COLOURS[finding.severity]
    shown = [paint(head, _BOLD) + paint(severity, weight) + first[len(head) + len(severity) :], *rest]
    hint = _printable(finding.hint) if finding.hint else None
    gutter = _GUTTER
    text = texts.get(finding.place.file) if finding.place else None
    if finding.place and text is not None:
        gutter = max(_GUTTER, len(str(finding.place.line)))
        excerpt, caret, column = _excerpt(text, finding.place, gutter)
        beside = hint if hint and column + len(caret) + 1 + _columns(hint) <= WIDTH else None
        marked = f"{' ' * gutter} | {' ' * (column - gutter - 3)}{paint(caret, weight)}"
        shown += [*excerpt, f"{marked} {beside}" if beside else marked]
        hint = None if beside else hint
    fix = f"fix: {_printable(finding.fix)}" if finding.fix else None
    for advice in (hint, fix, f"lockstep explain {finding.rule}" if page else None):
        if advice:
            shown += [f"{' ' * gutter} | {line}" for line in _wrapped(advice, WIDTH - gutter - 3)]
    return "\n".join(shown) + "\n"


def _excerpt(text: list[str], place: Place, gutter: int) -> tuple[list[str], str, int]:
    """Return the numbered lines to show, the caret's text and the column it starts in."""
    room = WIDTH - gutter - 3
    line = text[place.line - 1] if place.line <= len(text) else ""
    start = min(place.column - 1, len(line))
    length = max(1, min(place.length, len(line) - start))
    long = len(line) > room or _columns(line) > room
    cut = _back(line, start, room - min(length, room - _CONTEXT) - _CONTEXT) if long else 0
    before = "…" if cut else ""
    shown = []
    for number in (place.line - 1, place.line):
        part = text[number - 1][cut : cut + 2 * room] if 1 <= number <= len(text) else ""
        if number == place.line or part.strip():
            shown.append(f"{number:>{gutter}} | {_cut(before + _printable(part), room)}".rstrip())
    indent = _columns(before + line[cut:start])
    caret = "^" * max(1, min(_columns(line[start : start + min(length, room)]), room - indent))
    return shown, caret, gutter + 3 + indent


def _back(line: str, start: int, room: int) -> int:
    """Return where to begin, so that the text before `start` fits."""
    while start > 0 and room > 0:
        start -= 1
        room -= _columns(line[start])
    return start


def _cut(text: str, room: int) -> str:
    """Return text that fits, with … at its end where some of it is missing."""
    if _columns(text) <= room:
        return text
    while _columns(text) > room - 1:
        text = text[:-1]
    return f"{text}…"


def _head(finding: Finding) -> str:
    place = finding.place
    return f"{_printable(place.file)}:{place.line}:{place.column}: " if place else ""


def _wrapped(text: str, width: int = WIDTH, *, start: str = "", indent: str = "") -> list[str]:
    """Return text in lines of so many columns; a word that is longer, such as a path, stays in one piece."""
    done: list[str] = []
    line = start
    for word in text.split():
        if line and _columns(f"{line} {word}") > width:
            done.append(line)
            line = indent + word
        else:
            line = f"{line} {word}" if line else word
    return [*done, line]


def _printable(text: str) -> str:
    """Return text that cannot steer a terminal: one character for each of the original's."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "·" for c in text)


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def _paint(text: str, code: str, *, on: bool) -> str:
    return f"{code}{text}{_RESET}" if on and text else text
