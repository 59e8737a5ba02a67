"""What works is left alone: containerd's and kubeadm's own defaults, and the files that are planned and rendered."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.derive.test_derive_invariants import fleets, planned

from lockstep.catalog.builds import resolve
from lockstep.catalog.kubernetes import known_minors, minor
from lockstep.containerd import Settings, merge
from lockstep.fleet.model import Fleet
from lockstep.kubelet.configuration import merge_configuration
from lockstep.rules.beside import judge
from lockstep.rules.checked import Checked
from lockstep.rules.everything import Inputs, check_all
from lockstep.rules.given.context import Context
from lockstep.rules.given.kinds import Kind
from lockstep.rules.given.read import Given
from lockstep.runtimeclass.render import KUSTOMIZATION, render_classes

TESTS = Path(__file__).resolve().parents[1]
DEFAULTS = sorted((TESTS / "check" / "defaults").glob("*.toml"))
ON_WINDOWS = sorted((TESTS / "containerd" / "cases").glob("default-*/in.toml"))
KUBEADM = TESTS / "kubelet" / "files" / "kubeadm-windows.yaml"
STARTS = [name for name in known_minors() if minor(name).enforce_node_allocatable]
"""Minors whose kubelet starts on Windows with what kubeadm writes; the others need cgroupsPerQOS as well."""


def said(found: Checked) -> list[str]:
    return [f"{finding.rule} {finding.place} {finding.message}" for finding in found.findings]


@pytest.mark.parametrize("release", [True, False], ids=["release-known", "release-unknown"])
@pytest.mark.parametrize("file", [*DEFAULTS, *ON_WINDOWS], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_containerd_defaults(file: Path, *, release: bool) -> None:
    version = file.stem if file in DEFAULTS else file.parent.name.removeprefix("default-")
    context = Context(version if release else None, None, resolve("ltsc2022") if release else None)
    assert said(check_all(Inputs((file,), context=context))) == []


@pytest.mark.parametrize("version", STARTS)
def test_kubeadm_defaults(version: str) -> None:
    found = check_all(Inputs((KUBEADM,), context=Context(kubernetes=f"{version}.0")))
    assert not found.errors, said(found)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(fleets(), st.data())
def test_files_that_are_planned_and_rendered(fleet: Fleet, data: st.DataObject) -> None:
    plan = planned(fleet)
    pool = data.draw(st.sampled_from([*plan.pools.values()]))
    own = [item for item in plan.classes.values() if pool.name in item.pools]
    assume(own)
    has = pool.containerd
    config = merge(None, Settings(has.handlers, has.default_handler, has.pause_image), has.version)
    kubelet = merge_configuration(None, pool.kubelet.configuration, pool.kubelet.version)
    files = [
        (Given("config.toml", config, None), Kind.CONFIG_TOML),
        (Given("kubelet.yaml", kubelet, None), Kind.KUBELET),
    ]
    manifests = {name: text for name, text in render_classes(own).items() if name != KUSTOMIZATION}
    files += [(Given(name, text.encode(), None), Kind.OBJECTS) for name, text in manifests.items()]
    labels = ",".join(f"{key}={value}" for key, value in pool.kubelet.node_labels.items())
    line = rf"C:\k\kubelet.exe --windows-service --config=C:\var\lib\kubelet\config.yaml --node-labels={labels}"
    found = judge(files, line, Context(has.version, pool.kubelet.version, resolve(pool.host)), [])
    assert not found.errors, said(found)
    # Handlers and pause images that a user named are told as warnings, as the description tells them.
    assert {text.split()[0] for text in said(found) if text.startswith(("LW4", "LW6"))} <= {"LW416", "LW422"}
