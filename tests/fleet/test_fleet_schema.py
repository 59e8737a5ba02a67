"""The published JSON Schema is current, is a schema, and agrees with the validator."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from lockstep.fleet.load import check_data
from lockstep.fleet.shape import refusal, values
from lockstep.fleet.shape.kinds import Kind
from lockstep.fleet.shape.refusal import Refused
from lockstep.fleet.shape.schema import PUBLISHED, schema, text
from lockstep.fleet.shape.spec import VARIABLE
from lockstep.fleet.text import source

CASES = sorted((Path(__file__).parent / "cases").glob("*.case"))
# What a schema cannot say: it sees no other keys, no quotes, no catalogue of look-alikes, no Kubernetes sets of labels.
BEYOND_A_SCHEMA = {
    refusal.NO_TOLERATION,
    refusal.UNKNOWN_POOL,
    refusal.SHARED_GROUP,
    refusal.RESERVED_LABEL,
    refusal.NO_QUANTITY,
    refusal.NEEDS_QUOTES,
}
KINDS = {name: kind for name, kind in vars(values).items() if isinstance(kind, Kind)}


def errors_of(data: Any) -> list[str]:
    return [error.message for error in Draft7Validator(schema()).iter_errors(data)]


def test_the_published_file_is_current() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == text(), "run: python -m lockstep.fleet.shape.schema"


def test_it_is_a_schema() -> None:
    Draft7Validator.check_schema(json.loads(PUBLISHED.read_text(encoding="utf-8")))


def test_every_key_is_explained() -> None:
    def fields(node: Any) -> list[dict[str, Any]]:
        if not isinstance(node, dict):
            return []
        below = [found for value in node.values() for found in fields(value)]
        return [*node.get("properties", {}).values(), *below]

    described = fields(schema()["definitions"]["fleet"])
    assert len(described) == 30
    assert all(field["description"].endswith(".") for field in described)


def as_schemas_see_it(case: Path) -> dict[str, Any] | None:
    """Return a case's data, None where no schema gets to see it: not YAML, no mapping, or keys that are no text."""
    document = source.decode(case.read_bytes().partition(b"#### findings")[0], case.name)
    if document.findings or document.ansible_only or not isinstance(document.data, dict):
        return None
    try:
        data: dict[str, Any] = json.loads(json.dumps(document.data, default=str))
    except ValueError:
        return None
    return data if data == document.data else None


SEEN = {case.stem: data for case in CASES if (data := as_schemas_see_it(case)) is not None}


@pytest.mark.parametrize("name", SEEN)
def test_agrees_with_the_validator_on_the_cases(name: str) -> None:
    data = SEEN[name]
    problems = errors_of(data)
    rules = {finding.rule for finding in check_data(data.get(VARIABLE, data)).findings if finding.rule < "LW2"}
    if not rules:
        assert not problems
    elif not rules <= BEYOND_A_SCHEMA:
        assert problems


def test_a_schema_sees_most_cases() -> None:
    assert len(SEEN) > len(CASES) * 0.6


@pytest.mark.parametrize("name", sorted(KINDS))
@given(data=st.data())
def test_accepts_every_single_value_that_the_validator_accepts(name: str, data: st.DataObject) -> None:
    kind = KINDS[name]
    pattern = next((found for found in re.findall(r"'pattern': '([^']+)'", repr(kind.schema()))), None)
    near = [st.from_regex(pattern, fullmatch=True)] if pattern and "\\\\" not in pattern else []
    value = data.draw(st.one_of(st.text(max_size=70), st.integers(), st.floats(0, 10), st.sampled_from(KNOWN), *near))
    try:
        kind.read(value, None)
    except Refused:
        return
    assert not list(Draft7Validator(dict(kind.schema())).iter_errors(value))


KNOWN: list[Any] = [
    "ltsc2022", " LTSC2022", "20h2", "1809", 1809, 20348, "10.0.20348.2582", 10.0, True, None, "1.36.1",
    "v2.3.4-beta.0", "1.36.1+rke2r1", "process", "NoSchedule", "2Gi", "100m", "+1", ".5", "1e3", "1.", 0.5, 1,
    0, 2**31, "", "a", "a.b/c", "example.com/GPU_1", "x" * 63, "x" * 64, "x" * 253,
    "registry.k8s.io/pause:3.10.2", "a/b@sha256:" + "0" * 64,
]  # fmt: skip


@given(st.text(st.sampled_from("aZ0-_./ "), max_size=66))
def test_text_patterns_say_what_the_rules_say(content: str) -> None:
    """For kinds whose rule is a pattern and a length, the schema refuses exactly what the validator refuses."""
    for name in ("LABEL_VALUE", "POOL_NAME", "CLASS_NAME", "HANDLER", "GROUP", "IMAGE"):
        kind = KINDS[name]
        try:
            kind.read(content, None)
            accepted = True
        except Refused:
            accepted = False
        assert Draft7Validator(dict(kind.schema())).is_valid(content) == accepted, name


def test_other_variables_stand_beside_it() -> None:
    data = yaml.safe_load(
        "{ansible_user: x, lockstep_fleet: {kubernetes: 1.36.1, containerd: 2.3.4, pools: {a: {host: ltsc2022}}}}"
    )
    assert not errors_of(data)
    assert errors_of({"ansible_user": "x"})
