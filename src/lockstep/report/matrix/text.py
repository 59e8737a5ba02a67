"""The grid for a terminal, and as a Markdown table."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from lockstep.report.matrix.grid import Grid, Head, legend, mark

_GAP = "  "


def text(grid: Grid, width: int) -> str:
    """Return the grid as text of at most `width` columns; what is wider goes on in a further block."""
    widths = _widths(grid)
    blocks = ["\n".join(_block(grid, chosen, widths)) for chosen in _blocks(widths, width - _left(grid)[1])]
    explained = (
        textwrap.fill(f"{letter:<5} {meaning}", width, subsequent_indent=" " * 6) for letter, meaning in legend(grid)
    )
    return "\n\n".join([textwrap.fill(grid.title, width), *blocks, "\n".join(explained)]) + "\n"


def markdown(grid: Grid) -> str:
    """Return the grid as a Markdown table with its legend."""
    corner = " on ".join(grid.corner)
    head = [corner, *(_in_a_line(column) for column in grid.columns)]
    lines = [_row(head), _row(["---"] * len(head))]
    lines += [
        _row([_in_a_line(row), *(mark(cells) for cells in line)])
        for row, line in zip(grid.rows, grid.cells, strict=True)
    ]
    explained = "; ".join(f"`{letter}` {meaning}" for letter, meaning in legend(grid))
    return "\n".join([*lines, "", f"{explained}."]) + "\n"


def _blocks(widths: list[int], room: int) -> Iterator[list[int]]:
    """Yield the columns of each block: as many as fit, one at least."""
    block: list[int] = []
    used = 0
    for index, width in enumerate(widths):
        size = len(_GAP) + width
        if block and used + size > room:
            yield block
            block, used = [], 0
        block.append(index)
        used += size
    yield block


def _block(grid: Grid, chosen: list[int], widths: list[int]) -> Iterator[str]:
    row_word, column_word = grid.corner
    name, first = _left(grid)
    sizes = [first, *(widths[index] for index in chosen)]
    heads = [[grid.columns[index].name, *grid.columns[index].below] for index in chosen]
    corner = [f"{row_word.ljust(name)}{_GAP}{column_word:>{first - name - len(_GAP)}}"]
    for parts in zip_longest(corner, *heads, fillvalue=""):
        yield _line(parts, sizes)
    for row, cells in zip(grid.rows, grid.cells, strict=True):
        left = f"{row.name.ljust(name)}{_GAP}{' '.join(row.below)}"
        yield _line([left, *(mark(cells[index]) for index in chosen)], sizes)


def _line(parts: Sequence[str], sizes: Sequence[int]) -> str:
    return _GAP.join(part.ljust(size) for part, size in zip(parts, sizes, strict=True)).rstrip()


def _left(grid: Grid) -> tuple[int, int]:
    """Return the width of the rows' names, and of all that stands left of the columns."""
    row_word, column_word = grid.corner
    name = max([len(row_word), *(len(row.name) for row in grid.rows)])
    return name, name + len(_GAP) + max([len(column_word), *(len(" ".join(row.below)) for row in grid.rows)])


def _widths(grid: Grid) -> list[int]:
    marks = [[len(mark(cells)) for cells in line] for line in grid.cells]
    return [
        max([len(part) for part in (column.name, *column.below)] + [line[index] for line in marks])
        for index, column in enumerate(grid.columns)
    ]


def _in_a_line(head: Head) -> str:
    return f"{head.name} ({', '.join(head.below)})" if head.below else head.name


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
