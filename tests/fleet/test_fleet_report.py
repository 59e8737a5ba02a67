"""Findings as people see them."""

import unicodedata
from dataclasses import replace
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest

from lockstep.finding import Finding, Place, Severity
from lockstep.fleet.load import check
from lockstep.report.findings import WIDTH, render_all, report, wants_colour

FILE = "group_vars/windows.yml"


def finding(
    line: int, column: int, length: int = 1, *, message: str = "it is wrong", hint: str | None = None
) -> Finding:
    return Finding("LW104", Severity.ERROR, (), message, hint, "put it right", Place(FILE, line, column, length))


def render(found: Finding, sources: dict[str, str]) -> str:
    return render_all([found], sources, stream=StringIO())


def columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def shown(text: str, *, line: int, column: int, length: int = 1) -> list[str]:
    return render(finding(line, column, length), {FILE: text}).splitlines()


def test_shows_the_line_before_a_caret_and_what_to_do() -> None:
    text = "  pools:\n    win2022: {host: ltcs2022}\n"
    assert render(finding(2, 21, 8, hint="did you mean 'ltsc2022'?"), {FILE: text}) == (
        f"{FILE}:2:21: error LW104 it is wrong\n"
        "   1 |   pools:\n"
        "   2 |     win2022: {host: ltcs2022}\n"
        "     |                     ^^^^^^^^ did you mean 'ltsc2022'?\n"
        "     | fix: put it right\n"
    )


def test_the_caret_stands_under_its_word_whatever_the_line_is() -> None:
    for before in ("", "x" * 30, "x" * 90, "x" * 300, "日本" * 20, "\t\t"):
        for after in ("", "y" * 20, "y" * 200):
            line = f"{before}WRONG{after}"
            lines = shown(line, line=1, column=len(before) + 1, length=5)
            assert all(len(text) <= WIDTH for text in lines)
            text, caret = lines[1], lines[2]
            position = caret.index("^")
            columns = [letter for letter in text for _ in range(2 if letter in "日本" else 1)]
            assert "".join(columns[position : position + caret.count("^")]) == "WRONG"


def test_is_never_wider_than_the_screen() -> None:
    for word in ("word ", "日本語 "):
        found = finding(1, 200, 300, message=word * 60, hint=word * 60)
        assert max(map(columns, render(found, {FILE: "z" * 600}).splitlines())) <= WIDTH


def test_a_marked_letter_is_one_column() -> None:
    line = "e\u0301e\u0301 \u2764\ufe0f WRONG"
    _, text, caret = shown(line, line=1, column=line.index("W") + 1, length=5)[:3]
    unmarked = "".join(letter for letter in text if unicodedata.category(letter) != "Mn")
    assert unmarked[caret.index("^") :] == "WRONG"


def test_a_file_name_stays_in_one_piece() -> None:
    for name in ("a  b.yml", "folder/" * 30 + "windows hosts.yml"):
        found = replace(finding(1, 1), place=Place(name, 1, 1))
        assert render(found, {name: "x"}).startswith(f"{name}:1:1: error LW104")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x85", "\u2028", "\u2029"])
def test_lines_are_counted_as_yaml_counts_them(end: str, tmp_path: Path) -> None:
    file = tmp_path / "fleet.yml"
    lines = ['kubernetes: "1.36.1"', 'containerd: "2.3.4"', "pools: # all", "  a: {host: WRONG}", ""]
    file.write_bytes(end.join(lines).encode())
    assert "   4 |   a: {host: WRONG}\n     |             ^^^^^" in report(check(file), stream=StringIO())


def test_text_cannot_steer_the_terminal() -> None:
    found = finding(1, 1, message="\x1b[31mred\r\u202e", hint="\x07")
    assert not any(sign in render(found, {FILE: "\x1b[2J\x9b"}) for sign in "\x1b\x07\x9b\r\u202e")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_what_a_stream_cannot_show_does_not_stop_it(encoding: str) -> None:
    stream = TextIOWrapper(BytesIO(), encoding=encoding)
    stream.write(render_all([finding(1, 99, message="日本")], {FILE: "é" * 200}, stream=stream))
    stream.flush()


def test_a_place_beyond_the_text_is_no_problem() -> None:
    assert shown("one line", line=9, column=70)[0].startswith(f"{FILE}:9:70")
    assert shown("", line=1, column=1)[2].strip() == "|" + " ^"


def test_a_file_that_is_not_shown_still_gets_hint_and_fix() -> None:
    lines = render(finding(3, 4, hint="expected this"), {}).splitlines()
    assert lines[1:] == ["     | expected this", "     | fix: put it right"]


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(StringIO())
    assert "\x1b[31merror" in render_all([finding(1, 1)], {FILE: "x"}, stream=Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())


def test_findings_come_in_the_order_of_the_file() -> None:
    text = render_all([finding(3, 1), finding(1, 9), finding(1, 2)], {FILE: "a\nb\nc"}, stream=StringIO())
    assert [line.split(":")[1:3] for line in text.splitlines() if line.startswith(FILE)] == [
        ["1", "2"],
        ["1", "9"],
        ["3", "1"],
    ]


def test_the_last_line_sums_up(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yml"
    file.write_text(
        "kubernetes: 1.30\ncontainerd: 2.3.4\npools: {a: {host: ltsc2022}, b: {hots: x}}\n", encoding="utf-8"
    )
    assert report(check(file), stream=StringIO()).endswith("\n2 errors, 0 warnings in 1 file (2 pools, 0 classes)\n")
