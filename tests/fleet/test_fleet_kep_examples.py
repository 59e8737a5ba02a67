"""docs/kep-1301.md: what it says is found in each example is what is found, and what it proposes has no findings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lockstep.catalog.builds import resolve
from lockstep.finding import Severity
from lockstep.rules.everything import Inputs, check_all
from lockstep.rules.given.context import Context

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "kep-1301.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```\n\nFound: ([^\n]*)\.$", PAGE, re.MULTILINE | re.DOTALL)


def test_every_example_says_what_is_found() -> None:
    assert len(EXAMPLES) == PAGE.count("```") // 2 == 4


@pytest.mark.parametrize(("name", "text", "found"), EXAMPLES, ids=[item[2] for item in EXAMPLES])
def test_example(name: str, text: str, found: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    said = Context("2.3.4", "1.36.1", resolve("1903") if name == "config.toml" else None)
    findings = check_all(Inputs((path,), context=said)).findings
    expected = found.split("; ") if found != "nothing" else []
    for severity, rules in zip((Severity.ERROR, Severity.WARNING), [*expected, "", ""], strict=False):
        assert {item.rule for item in findings if item.severity is severity} == set(re.findall(r"LW\d{3}", rules))
