"""In what order keys or files are given decides nothing of what is found."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.finding import Finding
from lockstep.rules.check import check_data
from lockstep.rules.everything import Inputs, check_all
from lockstep.rules.given.context import Context

DERIVED = sorted((Path(__file__).resolve().parents[1] / "derive" / "cases").glob("*.yaml"))
DESCRIPTIONS: list[Any] = [yaml.safe_load(file.read_text(encoding="utf-8"))["fleet"] for file in DERIVED]
DESCRIPTIONS.append(
    yaml.safe_load("""
kubernetes: 1.36
containerd: "2.3.4"
taint: {key: os, value: on, effect: NoShedule}
pools:
  a: {host: ltcs2022, group: x}
  b: {host: ltsc2022, group: y, kubelet: {resolvConf: x, imageGcLow: 1, maxPods: -1}}
  c: {host: ltsc2022, group: y, labels: {windows-build: x, kubernetes.io/os: windows}}
runtime_classes:
  one: {isolation: hyperv, pools: [bb, cc, a], vm: {memory: 3Mi, cpus: 2}}
  two: {isolation: hyperv, guest: ltsc2022, pools: [b, b], vm: {memory: 2Gi}}
  Three: {isolation: proces, guest: 21H2}
""")
)


CONFIG = """
version = 3
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.a]
runtime_type = 'io.containerd.runc.v2'
"""
CLASS = """
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: a}
handler: nowhere
scheduling: {nodeSelector: {kubernetes.io/os: windows}}
"""


def shuffled(value: Any, chance: random.Random) -> Any:
    """Return the same with every mapping's keys in another order; lists keep theirs, which has a meaning."""
    if isinstance(value, dict):
        return {key: shuffled(value[key], chance) for key in chance.sample(list(value), len(value))}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


def said(findings: tuple[Finding, ...]) -> Counter[Finding]:
    return Counter(replace(finding, place=None) for finding in findings)


@given(st.sampled_from(DESCRIPTIONS), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_the_order_of_keys(description: Any, chance: random.Random) -> None:
    assert said(check_data(shuffled(description, chance)).findings) == said(check_data(description).findings)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    fleet = 'lockstep_fleet: {kubernetes: "1.36.1", containerd: "2.3.4", pools: {win2022: {host: ltsc2022}}}\n'
    contents = {
        "fleet.yml": fleet,
        "config.toml": CONFIG,
        "kubelet.yaml": "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: -1\n",
        "class.yaml": CLASS,
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return [tmp_path / name for name in contents]


def test_the_order_of_files(files: list[Path]) -> None:
    found = [check_all(Inputs(order, context=Context("2.3.4", "1.36.1"))).findings for order in permutations(files)]
    assert len({finding.place.file for finding in found[0] if finding.place}) > 2
    assert all(other == found[0] for other in found)
