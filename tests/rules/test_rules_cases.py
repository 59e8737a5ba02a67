"""Each case is a description and everything that is to be found in it, by the fleet and by the domains."""

from pathlib import Path

import pytest
import yaml
from tests.fleet.support.cases import differences, unpacked

from lockstep.catalog.kubernetes import known_minors
from lockstep.rules.check import check, check_data

CASES = sorted((Path(__file__).parent / "cases").glob("*.case"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_finds_exactly_what_is_wrong(case: Path, tmp_path: Path) -> None:
    file, expected = unpacked(case, tmp_path)
    loaded = check(file)
    assert not differences(loaded.findings, expected)
    failed = any(item.severity == "error" for item in expected)
    assert loaded.failed == (loaded.plan is None) == (loaded.fleet is None) == failed

    data = yaml.safe_load(file.read_bytes())
    assert {finding.rule for finding in check_data(data).findings} == {item.rule for item in expected}


@pytest.mark.parametrize("minor", known_minors())
def test_what_is_derived_is_right_for_every_minor(minor: str) -> None:
    """A field of the user's own has all planned fields checked, and none but the user's may be found wrong."""
    data = {
        "kubernetes": f"{minor}.1",
        "containerd": "2.3.4",
        "pools": {"a": {"host": "ltsc2022", "kubelet": {"maxPods": 50}}},
    }
    assert not [finding for finding in check_data(data).findings if finding.rule.startswith("LW3")]
