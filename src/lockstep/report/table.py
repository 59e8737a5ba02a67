"""Tables for a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

GAP = "  "
PAPER = 80


def columns() -> int:
    """Return how wide a text may be: the terminal's width, and 80 where there is none."""
    return shutil.get_terminal_size((PAPER, 24)).columns if sys.stdout.isatty() else PAPER


def table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the lines of a table. To fit `width` the widest columns are wrapped between words; no word is ever cut."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    narrowest = [max(_longest_word(cell) for cell in column) for column in zip(*lines, strict=True)]
    room = width - len(GAP) * (len(head) - 1)
    while sum(widths) > room:
        wrappable = [index for index in range(len(widths)) if widths[index] > narrowest[index]]
        if not wrappable:
            break
        widths[max(wrappable, key=widths.__getitem__)] -= 1
    return [line for cells in lines for line in _row(cells, widths)]


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    wrapped = [_wrap(text, width) for text, width in zip(cells, widths, strict=True)]
    for parts in zip_longest(*wrapped, fillvalue=""):
        yield GAP.join(part.ljust(width) for part, width in zip(parts, widths, strict=True)).rstrip()


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _wrap(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
