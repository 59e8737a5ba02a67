"""docs/coverage.md says of every statement what finds it, and of every finding what it is for."""

from __future__ import annotations

import re
from pathlib import Path

from lockstep.knowledge.rules import rules

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "coverage.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| statement", "| ---"))
]


def test_every_finding_is_named_and_every_named_one_exists() -> None:
    named = set(re.findall(r"LW\d{3}", PAGE))
    assert named - set(rules()) == set()
    assert set(rules()) - named == set()


def test_every_statement_has_a_source_and_a_finding_or_a_reason() -> None:
    assert len(ROWS) > 100
    for statement, source, found, *more in ROWS:
        assert not more, statement
        assert statement
        assert source
        assert re.match(r"LW\d{3}|no rule: \S", found), statement
        for part in re.split(r"[;,] ", found):
            assert "no rule" not in part or re.match(r"no rule( [^:]+)?: \S", part), statement


def test_no_statement_is_there_twice() -> None:
    statements = [row[0] for row in ROWS]
    assert len(statements) == len(set(statements))
