"""The grid against tables that were typed from the sources, in every format."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from lockstep.cli import main
from lockstep.fleet.load import check_data
from lockstep.report.matrix.grid import ISOLATIONS, Grid, legend, mark, of_catalogue, of_fleet, to_data
from lockstep.report.matrix.picture import html, svg
from lockstep.report.matrix.text import markdown, text

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(params=CASES, ids=lambda path: path.stem)
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(request.param.read_text())
    return loaded


@pytest.fixture
def grid(case: dict[str, Any]) -> Grid:
    isolations = (case["isolation"],) if "isolation" in case else ISOLATIONS
    if "fleet" not in case:
        return of_catalogue(case["containerd"], isolations, every=case.get("all", False))
    plan = check_data(case["fleet"]).plan
    assert plan is not None
    return of_fleet(plan, isolations)


def test_grid_is_the_table_from_the_source(case: dict[str, Any], grid: Grid) -> None:
    head, *lines = (line.split() for line in case["table"].splitlines())
    expected = {
        (row, column.replace("_", " ")): marks
        for row, *cells in lines
        for column, marks in zip(head[1:], cells, strict=True)
    }
    found = {
        (row.name, column.name): mark(cells).replace(" ", "")
        for row, line in zip(grid.rows, grid.cells, strict=True)
        for column, cells in zip(grid.columns, line, strict=True)
        if column.name in case.get("columns", [column.name])
    }
    assert found == expected


@pytest.mark.parametrize("width", [80, 60, 200])
def test_text_fits_its_width_and_has_every_mark(grid: Grid, width: int) -> None:
    shown = text(grid, width)
    assert max(map(len, shown.splitlines())) <= width
    for row, line in zip(grid.rows, grid.cells, strict=True):
        head = re.escape(row.name) + "  +" + re.escape(" ".join(row.below))
        told = re.findall(rf"^{head}  (.*)$", shown, re.MULTILINE)
        assert re.findall(r"P H|\S+", "  ".join(told)) == list(map(mark, line))


def test_markdown_has_every_mark(grid: Grid) -> None:
    rows = markdown(grid).splitlines()[2 : 2 + len(grid.rows)]
    assert [[cell.strip() for cell in row.strip("|").split("|")[1:]] for row in rows] == [
        list(map(mark, line)) for line in grid.cells
    ]


def test_svg_is_xml_that_stays_inside_its_frame(grid: Grid) -> None:
    root = ET.fromstring(svg(grid))  # noqa: S314 - the project's own output
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    marks = [group[2].text for group in root.iter(f"{SVG}g")]
    assert marks == [mark(cells) for line in grid.cells for cells in line]
    for box in root.iter(f"{SVG}rect"):
        assert float(box.get("x", 0)) + float(box.attrib["width"]) <= width
        assert float(box.get("y", 0)) + float(box.attrib["height"]) <= height
    for words in root.iter(f"{SVG}text"):
        assert 0 < float(words.attrib["x"]) < width
        assert 0 < float(words.attrib["y"]) < height


def test_html_has_every_mark_and_nothing_from_outside(grid: Grid) -> None:
    page = html(grid)
    cells: list[str] = []

    class Reader(HTMLParser):
        inside = False

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.inside = tag == "td"
            assert not {"src", "href"} & dict(attrs).keys()

        def handle_data(self, data: str) -> None:
            if self.inside:
                cells.append(data)
                self.inside = False

    Reader().feed(page)
    assert cells == [mark(found) for line in grid.cells for found in line]


def test_data_says_each_combination_once(grid: Grid) -> None:
    data = to_data(grid)
    assert json.loads(json.dumps(data)) == data
    names = (*grid.corner, "guest_build", "host_build", "isolation")
    keys = [tuple(entry[name] for name in names) for entry in data["combinations"]]
    assert len(set(keys)) == len(keys) == sum(len(cells) for line in grid.cells for cells in line)
    assert all(entry["reason"] for entry in data["combinations"])


def test_legend_explains_what_is_there(grid: Grid) -> None:
    there = {letter for line in grid.cells for cells in line for letter in mark(cells).split()}
    assert there <= {letter for letter, _ in legend(grid)} <= there | {"-"}


@pytest.mark.parametrize("kind", ["text", "markdown", "json", "svg", "html"])
def test_command_prints_each_format(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "--containerd", "2.3.4", "--format", kind]) == 0
    assert "ltsc2025" in capsys.readouterr().out


def test_command_takes_a_fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "fleet.yaml"
    case = yaml.safe_load((Path(__file__).parent / "cases" / "a-fleet.yaml").read_text())
    file.write_text(yaml.safe_dump(case["fleet"]))
    assert main(["matrix", str(file)]) == 0
    assert "windows-2025-hyperv" in capsys.readouterr().out
    assert main(["matrix", str(file), "--containerd", "2.3.4"]) == 2
    assert "a fleet says its own" in capsys.readouterr().err
