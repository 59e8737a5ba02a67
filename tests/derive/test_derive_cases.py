"""One small file a case: a description, the findings that it must give, and what the plan must hold."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.catalog.kubernetes import known_minors
from lockstep.finding import Finding
from lockstep.fleet import derivation
from lockstep.fleet.derivation.derive import Derivation, derive
from lockstep.fleet.plan import to_data
from lockstep.fleet.shape.assemble import assemble
from lockstep.fleet.text.locate import Nowhere

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))


def derived(description: Mapping[str, Any]) -> Derivation:
    assembled = assemble(description, Nowhere())
    assert assembled.fleet is not None
    assert not assembled.findings
    return derive(assembled.fleet)


def said(finding: Finding) -> str:
    return f"{finding.severity} {finding.rule} {'.'.join(map(str, finding.path))}"


def missing(expected: Any, given: Any, at: str = "plan") -> list[str]:
    """Return where the plan lacks what is expected; mappings may hold more, lists may not."""
    if isinstance(expected, Mapping):
        if not isinstance(given, Mapping):
            return [f"{at} is {given!r}"]
        return [
            line
            for key, value in expected.items()
            for line in (missing(value, given[key], f"{at}.{key}") if key in given else [f"{at} has no {key}"])
        ]
    if isinstance(expected, list) and isinstance(given, list) and len(expected) == len(given):
        return [
            line
            for index, (one, other) in enumerate(zip(expected, given, strict=True))
            for line in missing(one, other, f"{at}.{index}")
        ]
    same = type(expected) is type(given) and expected == given
    return [] if same else [f"{at} is {given!r}, not {expected!r}"]


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_case(file: Path) -> None:
    case = yaml.safe_load(file.read_text(encoding="utf-8"))
    derivation = derived(case["fleet"])
    assert sorted(map(said, derivation.findings)) == sorted(case["findings"])
    if any(line.startswith("error") for line in case["findings"]):
        assert derivation.plan is None
        assert "plan" not in case
    else:
        assert derivation.plan is not None
        assert missing(case.get("plan", {}), to_data(derivation.plan)) == []


def test_every_rule_of_the_derivation_has_a_case() -> None:
    rules = {line.split()[1] for file in CASES for line in yaml.safe_load(file.read_text(encoding="utf-8"))["findings"]}
    ids = {
        value
        for module in pkgutil.iter_modules(derivation.__path__)
        for name, value in vars(importlib.import_module(f"{derivation.__name__}.{module.name}")).items()
        if name.isupper() and str(value).startswith("LW")
    }
    assert ids - rules == {
        "LW265",  # moves with the catalogue: test_a_minor_newer_than_the_catalogue
        "LW271",  # needs thousands of classes: test_more_labels_than_a_command_line_holds
    }


def test_a_minor_newer_than_the_catalogue() -> None:
    major, _, minor = known_minors()[-1].partition(".")
    newer = f"{major}.{int(minor) + 1}.0"
    derivation = derived({"kubernetes": newer, "containerd": "2.3.4", "pools": {"a": {"host": "ltsc2025"}}})
    assert "warning LW265 kubernetes" in map(said, derivation.findings)
    assert derivation.plan is not None


def test_more_labels_than_a_command_line_holds() -> None:
    # Windows CreateProcessW: 32,767 characters.
    classes = {
        f"windows-2022-{number:04}": {"isolation": "process", "guest": "ltsc2022", "pools": ["a", "b"]}
        for number in range(1000)
    }
    pools = {"a": {"host": "ltsc2022"}, "b": {"host": "ltsc2025"}}
    fleet = {"kubernetes": "1.36.1", "containerd": "2.3.4", "pools": pools, "runtime_classes": classes}
    assert {said(finding) for finding in derived(fleet).findings} == {"error LW271 pools.a", "error LW271 pools.b"}
    fleet["runtime_classes"] = dict(list(classes.items())[:100])
    assert derived(fleet).plan is not None
