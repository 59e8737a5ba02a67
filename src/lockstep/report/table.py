"""Tables for a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from itertools import zip_longest

GAP = "  "
NARROWEST = 8
PAPER = 80


def columns() -> int:
    """Return how wide a text may be: the terminal's width, and 80 where there is none."""
    return shutil.get_terminal_size((PAPER, 24)).columns if sys.stdout.isatty() else PAPER


def table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return the lines of a table; to fit `width`, the widest columns are wrapped and nothing is cut."""
    widths = [max(len(row[index]) for row in (head, *rows)) for index in range(len(head))]
    room = width - len(GAP) * (len(head) - 1)
    while sum(widths) > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    lines = []
    for row in (head, *rows):
        cells = [_wrap(text, cell) for text, cell in zip(row, widths, strict=True)]
        for parts in zip_longest(*cells, fillvalue=""):
            padded = GAP.join(part.ljust(cell) for part, cell in zip(parts, widths, strict=True))
            lines.append(padded.rstrip())
    return lines


def _wrap(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]
