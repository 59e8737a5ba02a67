"""Whatever a description is, the answer is findings: never an exception, and always with a place in a file."""

import copy
import json
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep.fleet.load import Loaded, check, check_data
from lockstep.fleet.text import source
from lockstep.report.findings import report

DESCRIPTION: dict[str, Any] = yaml.safe_load("""
lockstep_fleet:
  kubernetes: "1.36.1"
  containerd: "2.3.4"
  taint: {key: os, value: windows, effect: NoSchedule}
  pools:
    win2022:
      host: ltsc2022
      group: windows_2022
      taint: none
      pause_image: registry.k8s.io/pause:3.10.2
      labels: {example.com/rack: a1}
      kubelet: {maxPods: 50, evictionHard: {memory.available: 500Mi}, extra: [1, {a: b}]}
    win2025: {host: 26100, kubernetes: "1.36.2", containerd: "2.3.3"}
  runtime_classes:
    windows-2022: {isolation: process, guest: ltsc2022, pools: [win2022], labels: {a: b}, annotations: {c: d}}
    windows-2025:
      isolation: hyperv
      guest: ltsc2025
      handler: runhcs-wcow-hypervisor
      vm: {memory: 2Gi, processors: 2}
      overhead: {memory: 512Mi, cpu: 100m}
      node_selector: {node.kubernetes.io/windows-build: 10.0.26100}
      tolerations: [{key: a, operator: Exists, effect: NoExecute}, {key: b, value: c}]
""")
WRONG: list[Any] = [
    None, True, False, 0, -1, 1809, 2**80, 1.5, float("inf"), "", "x", "on", "Foo_Bar", "ltcs2022", "x" * 300,
    "é\u202e\x1b[31m", "{{ template }}", [], {}, [None], {"x": 1}, {1: 2}, [[["deep"]]], "10.0.20348", "1.36.1", "2Gi",
]  # fmt: skip

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def paths(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(found for key, value in items for found in paths(value, (*path, key)))]


PATHS = [path for path in paths(DESCRIPTION) if path]


def replaced(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    data = copy.deepcopy(DESCRIPTION)
    holder = data
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    return data


def looked_at(file: Path) -> Loaded:
    loaded = check(file)
    assert all(line.isprintable() for line in report(loaded, stream=StringIO()).split("\n"))
    assert all(finding.place for finding in loaded.findings)
    return loaded


def test_the_description_itself_is_right(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yml"
    file.write_text(yaml.safe_dump(DESCRIPTION, sort_keys=False), encoding="utf-8")
    assert not [finding for finding in looked_at(file).findings if finding.severity == "error"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: ".".join(map(str, path)))
def test_every_wrong_value_at_every_key_is_answered(path: tuple[Any, ...], tmp_path: Path) -> None:
    file = tmp_path / "fleet.yml"
    for value in WRONG:
        file.write_text(yaml.dump(replaced(path, value), Dumper=yaml.CSafeDumper, allow_unicode=True), encoding="utf-8")
        looked_at(file)
    if path[-1] not in ("a", "c", "extra", "maxPods", "memory.available") and "kubelet" not in path:
        file.write_text(json.dumps(replaced(path, {"neither": ["this", "nor", "that"]})), encoding="utf-8")
        assert looked_at(file).failed


@pytest.mark.parametrize(
    "path", [path for path in PATHS if "kubelet" not in path], ids=lambda path: ".".join(map(str, path))
)
def test_an_unknown_key_anywhere_is_named(path: tuple[Any, ...], tmp_path: Path) -> None:
    holder: Any = DESCRIPTION
    for part in path:
        holder = holder[part]
    if not isinstance(holder, dict):
        return
    file = tmp_path / "fleet.yml"
    file.write_text(yaml.safe_dump(replaced(path, {**holder, "no such/key/": {}})), encoding="utf-8")
    assert any("no such/key/" in finding.message for finding in looked_at(file).findings)


@quick
@given(st.binary(max_size=200))
def test_random_bytes_are_answered(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "fleet.yml"
    file.write_bytes(content)
    document = source.read(file, "fleet.yml")
    assert document.findings or document.data is not None or document.root is not None
    if b"\n[" not in b"\n" + content:  # else it may be an INI inventory, which Ansible is asked about
        check(file)


@quick
@given(
    st.lists(
        st.tuples(st.integers(0, 2000), st.sampled_from(list("{}[]:,-&*!|>'\"%@`#? \t\n0aé\x07")), st.booleans()),
        max_size=6,
    )
)
def test_slips_of_the_pen_are_answered(tmp_path: Path, edits: list[tuple[int, str, bool]]) -> None:
    text = yaml.safe_dump(DESCRIPTION, sort_keys=False)
    for position, letter, insert in edits:
        at = position % len(text)
        text = text[:at] + letter + text[at if insert else at + 1 :]
    file = tmp_path / "fleet.yml"
    file.write_text(text, encoding="utf-8")
    check(file)
    document = source.parse(text, "fleet.yml")
    if not document.findings:
        assert document.data == yaml.load(text, Loader=yaml.CSafeLoader), "PyYAML reads something else"


@quick
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | st.dates(),
        lambda below: (
            st.lists(below, max_size=3)
            | st.dictionaries(
                st.sampled_from(["pools", "runtime_classes", "host", "isolation", "kubelet", "a"]) | st.integers(),
                below,
            )
        ),
        max_leaves=15,
    ),
)
def test_any_data_is_answered(data: Any) -> None:
    loaded = check_data(data)
    assert loaded.failed
    report(loaded, stream=sys.stderr)


def test_no_file_and_no_access_are_findings(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.yml", tmp_path / "a" / "b"):
        loaded = check(path)
        assert [finding.rule for finding in loaded.findings] == ["LW001"]
        assert "cannot be read: no such file" in loaded.findings[0].message
