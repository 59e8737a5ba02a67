"""Each case is a description and, below `#### findings`, everything that is to be found in it."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from lockstep.finding import Finding, Severity
from lockstep.fleet.load import check

CASES = sorted((Path(__file__).parent / "cases").glob("*.case"))
MARK = b"#### findings\n"
DERIVED = "LW2"


class Expected(NamedTuple):
    severity: str
    rule: str
    place: str
    words: tuple[str, ...]


def expected_in(text: str) -> list[Expected]:
    found = []
    for line in text.splitlines():
        head, *words = line.split(" | ")
        severity, rule, place = head.split()
        found.append(Expected(severity, rule, place, tuple(words)))
    return found


def place_of(finding: Finding) -> str:
    return f"{finding.place.line}:{finding.place.column}" if finding.place else "-"


def said_by(finding: Finding) -> str:
    return " ".join(filter(None, (finding.message, finding.hint, finding.fix)))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_finds_exactly_what_is_wrong(case: Path, tmp_path: Path) -> None:
    content, _, findings = case.read_bytes().partition(MARK)
    file = tmp_path / "fleet.yaml"
    file.write_bytes(content)
    expected = expected_in(findings.decode())
    rules = {item.rule for item in expected}

    loaded = check(file)

    # What derivation warns of is its own tests' matter; its errors are false alarms unless the case names them.
    found = [
        f for f in loaded.findings if not f.rule.startswith(DERIVED) or f.severity is Severity.ERROR or f.rule in rules
    ]
    assert sorted((f.severity, f.rule, place_of(f)) for f in found) == sorted(item[:3] for item in expected)
    for item in expected:
        said = [said_by(f) for f in found if (f.rule, place_of(f)) == (item.rule, item.place)]
        assert any(all(word in text for word in item.words) for text in said), (item, said)
    assert (loaded.fleet is None) == (loaded.plan is None) == any(item.severity == "error" for item in expected)
    assert loaded.findings == tuple(
        sorted(loaded.findings, key=lambda f: (f.place.line, f.place.column) if f.place else (0, 0))
    )
    for finding in loaded.findings:
        assert finding.place is None or finding.place.file == str(file)
        assert not re.search(r"\n|object at 0x|Traceback", said_by(finding))


def test_there_are_cases() -> None:
    assert len(CASES) > 50
