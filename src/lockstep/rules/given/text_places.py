"""From a character's index in a text to its line and column."""

from __future__ import annotations

import re
from bisect import bisect_right

from lockstep.finding import Place, lines

_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


class TextPlaces:
    """Lines as `finding.lines` counts them."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._length = len(text)
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def at(self, index: int, length: int = 1) -> Place:
        """Return the place of so many characters from an index on."""
        line = bisect_right(self._starts, index)
        return Place(self._file, line, index - self._starts[line - 1] + 1, max(length, 1))

    def index(self, line: int, column: int) -> int:
        """Return the index of a line and column, the text's end where there is no such place."""
        return self._starts[line - 1] + column - 1 if 0 < line <= len(self._starts) else self._length


def within(text: str, file: str, line: int, column: int) -> Place:
    """Return a parser's place, which may be behind a text: then the text's last character."""
    every = lines(text)
    if line <= len(every):
        return Place(file, line, column)
    last = max((number for number, content in enumerate(every, 1) if content.strip()), default=1)
    return Place(file, last, max(len(every[last - 1].rstrip()), 1))
