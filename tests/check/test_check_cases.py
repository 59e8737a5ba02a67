"""For every rule over files: a wrong input with exactly its finding at its place, and a right one without any."""

import re
from pathlib import Path

import pytest
from tests.check.support import checked, lines

from lockstep.rules.registry import AREAS, modules

CASES = sorted((Path(__file__).parent / "cases").iterdir())
RULES = sorted({module.RULE for area in AREAS for module in modules(area) if hasattr(module, "RULE")})


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_finds_exactly_what_is_wrong_where_it_is(case: Path, tmp_path: Path) -> None:
    found, expected = checked(case, tmp_path)
    assert lines(found.findings, tmp_path) == expected
    for finding in found.findings:
        assert not re.search(r"\n|object at 0x|\{\}|None", " ".join(filter(None, (finding.message, finding.fix))))
        assert not finding.message.endswith(".")


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_wrong_and_a_right_case(rule: str) -> None:
    assert {"wrong", "right"} <= {path.stem.split("-")[1] for path in CASES if path.name.startswith(f"{rule}-")}
