"""The grid as a picture: SVG, and an HTML page. Each colour has a letter too, for printers and eyes without colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from lockstep.report.matrix.grid import Cell, Grid, Head, legend, mark

_COLOURS = {
    "P H": ("#14684a", "#ffffff"),
    "P": ("#2b6cb0", "#ffffff"),
    "H": ("#5a4fa2", "#ffffff"),
    "h": ("#f3d27a", "#1f2328"),
    "could": ("#d8e8f7", "#1f2328"),
    "-": ("#eef0f2", "#6b7280"),
}
_INK, _QUIET = "#1f2328", "#57606a"
_FONT = 'font-family="Segoe UI, Helvetica, Arial, sans-serif"'
_LETTER = 8.4
"""Width of an average letter at the font size of names, in units of the picture."""
_MARGIN, _ROW, _LEGEND_ROW, _TITLE, _MEANING = 16, 34, 22, 40, 54
_LINE = 15
_NARROWEST = 64


def svg(grid: Grid) -> str:
    """Return the grid as an SVG picture that scales to the width it is given."""
    names = _wide([*(row.name for row in grid.rows), " on ".join(grid.corner)])
    left = _MARGIN + names + _wide(" ".join(row.below) for row in grid.rows) + 2 * _MARGIN
    column = max(_NARROWEST, _wide(part for head in grid.columns for part in (head.name, *head.below)) + _MARGIN)
    head_lines = 1 + max((len(head.below) for head in grid.columns), default=0)
    top = _MARGIN + _TITLE + head_lines * _LINE + 8
    explained = legend(grid)
    width = 2 * _MARGIN + max(
        left - _MARGIN + column * len(grid.columns),
        1.4 * _wide([grid.title]),
        _MEANING + _wide(meaning for _, meaning in explained),
    )
    height = top + _ROW * len(grid.rows) + _MARGIN + _LEGEND_ROW * len(explained) + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" {_FONT}>',
        f"<title>{escape(grid.title)}</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        _text(_MARGIN, _MARGIN + 18, grid.title, size=17, weight="600"),
    ]
    parts += [*_column_heads(grid, left, column, top), *_rows(grid, left, column, top)]
    parts += _legend(explained, top + _ROW * len(grid.rows) + _MARGIN)
    return "\n".join([*parts, "</svg>"]) + "\n"


def html(grid: Grid) -> str:
    """Return the grid as an HTML page without anything outside it; each cell tells its reason when pointed at."""
    heads = "".join(f'<th scope="col">{_html_head(head)}</th>' for head in grid.columns)
    rows = "\n".join(
        f'<tr><th scope="row">{_html_head(row)}</th>{"".join(map(_html_cell, line))}</tr>'
        for row, line in zip(grid.rows, grid.cells, strict=True)
    )
    explained = "".join(
        f'<div><dt style="{_style(letter)}">{letter}</dt><dd>{escape(meaning)}</dd></div>'
        for letter, meaning in legend(grid)
    )
    corner = " on ".join(grid.corner)
    return f"""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(grid.title)}</title>
<style>
@page {{ size: landscape; margin: 12mm }}
body {{ font: 15px/1.4 "Segoe UI", Helvetica, Arial, sans-serif; color: {_INK} }}
body {{ margin: 2em auto; max-width: 75em; padding: 0 1em }}
h1 {{ font-size: 1.3em }}
.wide {{ overflow-x: auto }}
table {{ border-collapse: separate; border-spacing: 3px; print-color-adjust: exact; -webkit-print-color-adjust: exact }}
th {{ font-weight: 600; text-align: left; vertical-align: bottom; padding: .3em .6em; white-space: nowrap }}
th small {{ display: block; font-weight: 400; color: {_QUIET} }}
td, dt {{ border-radius: 4px; text-align: center; font-weight: 600; padding: .4em .6em; min-width: 3em }}
dl div {{ display: flex; gap: .8em; align-items: baseline; margin: .3em 0 }}
dd {{ margin: 0 }}
</style>
<h1>{escape(grid.title)}</h1>
<div class="wide"><table>
<thead><tr><th>{escape(corner)}</th>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
<dl>{explained}</dl>
</html>
"""


def _column_heads(grid: Grid, left: float, column: float, top: float) -> Iterator[str]:
    row_word, column_word = grid.corner
    yield _text(_MARGIN, top - 14, f"{row_word} on {column_word}", fill=_QUIET)
    for index, head in enumerate(grid.columns):
        centre = left + column * (index + 0.5)
        lines = (head.name, *head.below)
        for number, part in enumerate(lines):
            y = top - 14 - _LINE * (len(lines) - 1 - number)
            weight, fill = ("600", _INK) if number == 0 else ("400", _QUIET)
            yield _text(centre, y, part, anchor="middle", weight=weight, fill=fill)


def _rows(grid: Grid, left: float, column: float, top: float) -> Iterator[str]:
    for number, (row, line) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        y = top + _ROW * number
        yield _text(_MARGIN, y + 21, row.name, weight="600")
        if row.below:
            x = left - _MARGIN
            yield _text(x, y + 21, " ".join(row.below), anchor="end", fill=_QUIET)
        for index, cells in enumerate(line):
            letters = mark(cells)
            back, ink = _colours(letters)
            x = left + column * index
            yield (
                f'<g><title>{escape(_reasons(cells))}</title><rect x="{x + 2:.1f}" y="{y + 2:.1f}"'
                f' width="{column - 4:.1f}" height="{_ROW - 4}" rx="4" fill="{back}"/>'
                + _text(x + column / 2, y + 21, letters, anchor="middle", fill=ink, weight="600")
                + "</g>"
            )


def _legend(explained: Sequence[tuple[str, str]], top: float) -> Iterator[str]:
    for number, (letter, meaning) in enumerate(explained):
        y = top + _LEGEND_ROW * number
        back, ink = _colours(letter)
        yield f'<rect x="{_MARGIN}" y="{y:.1f}" width="44" height="{_LEGEND_ROW - 4}" rx="4" fill="{back}"/>'
        yield _text(_MARGIN + 22, y + 13, letter, anchor="middle", fill=ink, weight="600")
        yield _text(_MARGIN + _MEANING, y + 13, meaning)


def _text(
    x: float, y: float, words: str, *, size: int = 13, anchor: str = "start", weight: str = "400", fill: str = _INK
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}"'
        f' fill="{fill}">{escape(words)}</text>'
    )


def _wide(words: Iterable[str]) -> float:
    """Return about how wide the widest of some words is, in units of the picture."""
    return _LETTER * max(map(len, words), default=0)


def _reasons(cells: Sequence[Cell]) -> str:
    return "; ".join(f"{cell.isolation}: {cell.reason}" for cell in cells)


def _html_head(head: Head) -> str:
    return escape(head.name) + "".join(f"<small>{escape(part)}</small>" for part in head.below)


def _html_cell(cells: Sequence[Cell]) -> str:
    letters = mark(cells)
    return f'<td style="{_style(letters)}" title="{escape(_reasons(cells), quote=True)}">{letters}</td>'


def _colours(letters: str) -> tuple[str, str]:
    """Return background and ink; letters that stand together elsewhere have the first one's."""
    return _COLOURS.get(letters) or _COLOURS[letters.split(maxsplit=1)[0]]


def _style(letters: str) -> str:
    back, ink = _colours(letters)
    return f"background:{back};color:{ink}"
