"""containerd's facts by release, against what its tags say (tests/containerd_real asks the programs themselves)."""

from __future__ import annotations

from datetime import date

import pytest

from lockstep.catalog.containerd import UnknownSeries, known_series, layout, option_types, series
from lockstep.catalog.versions import VersionError


@pytest.mark.parametrize(
    ("version", "new_file", "highest"),
    [
        ("1.6.36", 2, 2),
        ("1.7.0", 2, 2),
        ("2.0.0", 3, 3),
        ("2.1.9", 3, 3),
        ("2.2.0", 3, 3),
        ("2.3.0", 3, 4),
        ("2.4.2", 3, 4),
    ],
)
def test_config_versions(version: str, new_file: int, highest: int) -> None:
    assert (series(version).config_version_for_new_file, series(version).max_config_version) == (new_file, highest)


@pytest.mark.parametrize(
    ("version", "scrubs"),
    [
        ("1.7.34", False), ("1.7.35", True), ("2.0.11", False), ("2.0.13", True), ("2.1.9", False), ("2.2.6", False),
        ("2.2.7", True), ("2.3.3", False), ("2.3.4", True), ("2.4.0", True), ("2.4.0-beta.0", True),
    ],
)  # fmt: skip
def test_logs_are_scrubbed_from_the_patch_that_brought_it(version: str, *, scrubs: bool) -> None:
    for handler in series(version).default_handlers.values():
        assert ("ScrubLogs" in handler.options) == scrubs


@pytest.mark.parametrize(
    ("version", "pause"),
    [
        ("1.6.8", "k8s.gcr.io/pause:3.6"),
        ("1.6.36", "registry.k8s.io/pause:3.6"), ("1.7.35", "registry.k8s.io/pause:3.8"),
        ("2.0.14", "registry.k8s.io/pause:3.10"), ("2.1.9", "registry.k8s.io/pause:3.10"),
        ("2.2.9", "registry.k8s.io/pause:3.10.1"), ("2.3.7", "registry.k8s.io/pause:3.10.2"),
        ("2.4.2", "registry.k8s.io/pause:3.10.2"),
    ],
)  # fmt: skip
def test_default_pause(version: str, pause: str) -> None:
    assert series(version).default_pause == pause


def test_1_6_has_no_handler_for_hyperv_and_one_can_be_planned() -> None:
    assert set(series("1.6.36").default_handlers) == {"runhcs-wcow-process"}
    assert series("1.6.36").planned["hyperv"].options["SandboxIsolation"] == 1


@pytest.mark.parametrize("version", [f"{name}.0" for name in known_series()])
def test_what_is_planned_is_containerds_own_handler_and_what_is_always_said(version: str) -> None:
    facts = series(version)
    for isolation, number in {"process": 0, "hyperv": 1}.items():
        planned = facts.planned[isolation]
        assert planned.options["SandboxPlatform"] == "windows/amd64"
        assert planned.options["SandboxIsolation"] == number
        assert set(planned.options) <= set(option_types(version))
        assert (planned.sandboxer is not None) == ("sandboxer" in facts.handler_keys)
    own = facts.default_handlers[facts.default_handler]
    assert {**facts.planned["process"].options, **own.options} == facts.planned["process"].options


@pytest.mark.parametrize(
    ("version", "spelling", "read"),
    [
        ("1.7.35", "ScaleCPULimitsToSandbox", False),
        ("1.7.35", "scalecpulimitstosandbox", True),
        ("1.7.35", "scaleCpuLimitsToSandbox", True),
        ("1.7.35", "SCALECPULIMITSTOSANDBOX", True),
        ("2.3.7", "ScaleCPULimitsToSandbox", True),
        ("2.3.7", "scale_cpu_limits_to_sandbox", False),
    ],
)
def test_spellings_of_an_option(version: str, spelling: str, *, read: bool) -> None:
    assert series(version).reads(spelling, "ScaleCpuLimitsToSandbox") == read


def test_places_of_the_config_versions() -> None:
    assert layout(2).handlers == ("plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes")
    assert layout(2).handler_platforms is None
    assert layout(3).pause_image == ("plugins", "io.containerd.cri.v1.images", "pinned_images", "sandbox")
    assert layout(4).handlers == layout(3).handlers


def test_a_series_that_is_not_described_is_refused() -> None:
    with pytest.raises(
        UnknownSeries, match=r"containerd 1\.5\.0 is of no known series: expected one of 1\.6, 1\.7, 2\.0"
    ):
        series("1.5.0")
    with pytest.raises(VersionError):
        series("2.3")


def test_support_ends_when_containerd_says() -> None:
    # containerd RELEASES.md, 2026-08-22; "September 2026" and "March, 2027" are taken as their last days.
    ends = {name: series(f"{name}.0").ends for name in known_series()}
    assert ends == {
        "1.6": date(2025, 8, 23),
        "1.7": date(2026, 9, 30),
        "2.0": date(2027, 3, 31),
        "2.1": date(2026, 7, 3),
        "2.2": date(2026, 11, 6),
        "2.3": date(2028, 4, 30),
        "2.4": date(2027, 4, 26),
    }
