"""Each case is a description and everything that is to be found in it."""

from pathlib import Path

import pytest
from tests.fleet.support.cases import differences, unpacked

from lockstep.finding import Severity
from lockstep.fleet.load import check

CASES = sorted((Path(__file__).parent / "cases").glob("*.case"))
DERIVED = "LW2"


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_finds_exactly_what_is_wrong(case: Path, tmp_path: Path) -> None:
    file, expected = unpacked(case, tmp_path)
    rules = {item.rule for item in expected}

    loaded = check(file)

    # What derivation warns of is its own tests' matter; its errors are false alarms unless the case names them.
    found = [
        finding
        for finding in loaded.findings
        if not finding.rule.startswith(DERIVED) or finding.severity is Severity.ERROR or finding.rule in rules
    ]
    assert not differences(found, expected)
    assert (loaded.fleet is None) == (loaded.plan is None) == any(item.severity == "error" for item in expected)
    assert loaded.findings == tuple(
        sorted(loaded.findings, key=lambda f: (f.place.line, f.place.column) if f.place else (0, 0))
    )
    assert all(finding.place is None or finding.place.file == str(file) for finding in loaded.findings)


def test_there_are_cases() -> None:
    assert len(CASES) > 50
