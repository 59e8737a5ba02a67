"""Cases as data: each file in `cases/` says what it shows, what goes in, and what has to come out."""

from __future__ import annotations

import difflib
from typing import Any

import pytest
from tests.kubelet.data import HERE, cases

from lockstep.kubelet.check import check_configuration, check_fields
from lockstep.kubelet.command_line import merge_flags
from lockstep.kubelet.configuration import merge_configuration, remove_configuration, same
from lockstep.kubelet.fields import dotted
from lockstep.kubelet.problem import CommandLineError, KubeletConfigError


def assert_same_text(result: str, expected: str) -> None:
    lines = difflib.unified_diff(
        expected.splitlines(keepends=True), result.splitlines(keepends=True), "expected", "result"
    )
    assert result == expected, "\n" + "".join(lines)


@pytest.mark.parametrize("case", cases("merge"))
def test_merging(case: dict[str, Any]) -> None:
    before = case["before"].encode()
    after = merge_configuration(before, case["fields"], case["version"])
    assert_same_text(after.decode(), case["after"])
    assert merge_configuration(after, case["fields"], case["version"]) == after


@pytest.mark.parametrize("case", cases("remove"))
def test_removing(case: dict[str, Any]) -> None:
    before = case["before"].encode()
    after = remove_configuration(before, case["fields"], case["version"])
    assert after is not None
    assert_same_text(after.decode(), case["after"])
    assert remove_configuration(after, case["fields"], case["version"]) == after


@pytest.mark.parametrize("case", cases("refused"))
def test_a_file_that_cannot_be_merged_into(case: dict[str, Any]) -> None:
    with pytest.raises(KubeletConfigError) as caught:
        merge_configuration(case["before"].encode(), case["fields"], case["version"])
    assert case["error"] in str(caught.value)
    assert (caught.value.line, caught.value.column) == (case["line"], case["column"])
    assert caught.value.fix in str(caught.value)


def test_what_is_not_utf_8_is_refused() -> None:
    with pytest.raises(KubeletConfigError, match="line 2, column 10: not UTF-8") as caught:
        merge_configuration(b"kind: x\nmaxPods: \xff\n", {}, "1.36.1")
    assert (caught.value.line, caught.value.column) == (2, 10)


@pytest.mark.parametrize(
    "value", [{1: 2}, {"maxPods": object()}, {"x": float("nan")}, {"x": [b"bytes"]}, {"x": {"y": {3: 4}}}]
)
def test_planned_values_are_plain_data(value: dict[Any, Any]) -> None:
    with pytest.raises(KubeletConfigError):
        merge_configuration(None, value, "1.36.1")


@pytest.mark.parametrize("case", cases("check"))
def test_checking_fields(case: dict[str, Any]) -> None:
    found = [[p.rule, str(p.severity), dotted(p.path), p.hint] for p in check_fields(case["fields"], case["version"])]
    assert by_place(found) == by_place(with_hints(case["problems"], found))


def with_hints(expected: list[list[Any]], found: list[list[Any]]) -> list[list[Any]]:
    """A case that names no hint does not care."""
    hints = {(rule, path): hint for rule, _, path, hint in found}
    return [[rule, severity, path, hint or hints.get((rule, path))] for rule, severity, path, hint in expected]


def by_place(problems: list[list[Any]]) -> list[list[Any]]:
    return sorted(problems, key=lambda problem: [str(part) for part in problem])


@pytest.mark.parametrize("case", cases("file"))
def test_checking_a_whole_file(case: dict[str, Any]) -> None:
    data = (HERE / "files" / case["file"]).read_bytes()
    problems = check_configuration(data, case["version"], case.get("command_line"))
    assert by_place([[p.rule, str(p.severity), dotted(p.path)] for p in problems]) == by_place(case["problems"])


def test_every_problem_says_what_to_do() -> None:
    told = [p for param in cases("check") for p in check_fields(param.values[0]["fields"], param.values[0]["version"])]
    assert {p.rule for p in told} >= {f"LW3{n:02d}" for n in (*range(1, 4), *range(10, 24))}
    assert all(p.fix or p.hint or "expected" in p.message for p in told)
    assert all("\n" not in p.message and not p.message.endswith(".") for p in told)


@pytest.mark.parametrize("case", cases("command_line"))
def test_merging_flags(case: dict[str, Any]) -> None:
    arguments = case["flags"], case["version"], case["configuration"]
    after = merge_flags(case["before"], *arguments)
    assert_same_text(after, case["after"])
    assert merge_flags(after, *arguments) == after


@pytest.mark.parametrize("case", cases("command_line", refused=True))
def test_flags_and_lines_that_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(CommandLineError) as caught:
        merge_flags(case["before"], case["flags"], case["version"])
    assert case["error"] in str(caught.value)


def test_same_knows_types() -> None:
    assert same({"a": [1, True]}, {"a": [1, True]})
    assert not same({"a": 1}, {"a": True})
    assert not same([1], [1.0])
    assert same(float("nan"), float("nan"))
