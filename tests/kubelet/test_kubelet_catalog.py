"""What the catalogue says of Kubernetes minors, against what their sources say."""

from __future__ import annotations

import pytest

from lockstep.catalog.kubernetes import UnknownMinor, known_minors, minor
from lockstep.k8s import quantities


def test_minors_are_in_order_and_without_gaps() -> None:
    numbers = [minor(name).number for name in known_minors()]
    assert numbers == [(1, n) for n in range(24, 24 + len(numbers))]
    assert numbers[-1] >= (1, 37)


@pytest.mark.parametrize("text", ["1.36", "1.36.1", "v1.36.1", "1.36.1+rke2r1", "1.36.0-rc.1"])
def test_every_way_to_write_a_version_means_its_minor(text: str) -> None:
    assert minor(text).name == "1.36"
    assert minor(text).known


@pytest.mark.parametrize("text", ["1.23.9", "2.0.0", "1.63.1", "", "1", "latest", "1.36.1.2.3 x"])
def test_other_versions_are_refused(text: str) -> None:
    with pytest.raises(UnknownMinor, match=r"not known: the catalogue has 1\.24 to|not a Kubernetes version"):
        minor(text)


def test_a_slightly_newer_minor_is_like_the_newest() -> None:
    newest = minor(known_minors()[-1])
    newer = minor(f"1.{newest.number[1] + 1}.0")
    assert not newer.known
    assert (newer.fields, newer.pause, newer.flags.keys()) == (newest.fields, newest.pause, newest.flags.keys())


# Source: kubernetes/kubernetes cmd/kubeadm/app/constants/constants.go, PauseVersion.
@pytest.mark.parametrize(("name", "pause"), [("1.29", "3.9"), ("1.31", "3.10"), ("1.34", "3.10.1"), ("1.36", "3.10.2")])
def test_pause(name: str, pause: str) -> None:
    assert minor(name).pause == pause


# Source: kubernetes/kubelet config/v1beta1/types.go at each tag.
@pytest.mark.parametrize(
    ("field", "first"),
    [
        ("containerRuntimeEndpoint", "1.27"),
        ("mergeDefaultEvictionSettings", "1.33"),
        ("memoryReservationPolicy", "1.36"),
        ("defaultPodSysctls", "1.37"),
    ],
)
def test_fields_come_with_their_minor(field: str, first: str) -> None:
    assert [field in minor(name).fields for name in known_minors()] == [
        minor(name).number >= minor(first).number for name in known_minors()
    ]


# Source: Kubernetes changelogs, "removed".
@pytest.mark.parametrize(
    ("flag", "gone"),
    [
        ("network-plugin", "1.24"),
        ("log-dir", "1.26"),
        ("container-runtime", "1.27"),
        ("azure-container-registry-config", "1.30"),
        ("keep-terminated-pod-volumes", "1.31"),
        ("cloud-config", "1.34"),
        ("register-schedulable", "1.34"),
        ("pod-infra-container-image", "1.35"),
    ],
)
def test_flags_go_with_their_minor(flag: str, gone: str) -> None:
    for name in known_minors():
        facts = minor(name)
        there = facts.number < minor(gone).number
        assert (flag in facts.flags, facts.removed_flags.get(flag)) == (there, None if there else gone)


def test_flag_only_flags() -> None:
    assert {
        "kubeconfig",
        "bootstrap-kubeconfig",
        "hostname-override",
        "node-ip",
        "node-labels",
        "windows-service",
        "config",
    } <= minor("1.36").flag_only
    assert "container-runtime-endpoint" in minor("1.26").flag_only
    assert "container-runtime-endpoint" not in minor("1.27").flag_only


def test_node_allocatable() -> None:
    """Source: validation_windows.go: v1.30.14 refuses any entry, v1.31.14 warns."""
    assert [minor(name).enforce_node_allocatable for name in ("1.29", "1.30", "1.31", "1.37")] == [
        (),
        (),
        ("none",),
        ("none",),
    ]


def test_every_flag_overrides_a_field_that_is_there() -> None:
    for name in known_minors():
        facts = minor(name)
        for flag in facts.flags.values():
            kind = "KubeletConfiguration"
            for part in flag.field.split(".") if flag.field else ():
                kind = facts.types[kind][part].type


def test_every_type_that_a_field_names_is_there() -> None:
    scalars = {"string", "bool", "int", "number", "duration", "duration-or-int", "quantity"}
    for name in known_minors():
        types = minor(name).types
        for fields in types.values():
            for field in fields.values():
                assert field.type.removeprefix("[]").removeprefix("map:").removeprefix("[]") in scalars | types.keys()


def test_locked_gates_are_locked_at_their_default() -> None:
    assert minor("1.34").locked_gates["WinOverlay"] is True
    assert "WinOverlay" not in minor("1.33").locked_gates
    for name in known_minors():
        facts = minor(name)
        assert all(facts.gates[gate] is value for gate, value in facts.locked_gates.items())


def test_pause_tags_and_containerd_releases_are_versions() -> None:
    for name in known_minors():
        facts = minor(name)
        assert all(part.isdigit() for part in facts.pause.split("."))
        assert all(len(release.split(".")) == 3 for release in facts.containerd)
        assert quantities.parse(str(facts.windows_server[0])) >= 17763
