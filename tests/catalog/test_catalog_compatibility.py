from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lockstep.catalog.builds import Build, known, resolve
from lockstep.catalog.compatibility import Isolation, can_run, matches, published, supports_hyperv
from lockstep.catalog.versions import VersionError

CASES = Path(__file__).parent / "cases"
RELEASES = ["1.6.22", "1.6.23", "1.7.5", "1.7.30", "2.0.0", "2.1.5", "2.1.6", "2.2.0", "2.3.4", "2.3.5", "2.4.0"]


def case(name: str) -> Any:
    return yaml.safe_load((CASES / f"{name}.yaml").read_text(encoding="utf-8"))


def matcher_pairs() -> Iterator[tuple[str, int, int, bool]]:
    for entry in case("matcher"):
        for release in entry["containerd"]:
            yield from ((release, *pair) for pair in entry["pairs"])


def matrix_cells() -> Iterator[tuple[str, str, str]]:
    matrix = case("microsoft-matrix")
    for host, cells in matrix["hosts"].items():
        yield from ((host, guest, cell) for guest, cell in zip(matrix["guests"], cells, strict=True))


@pytest.mark.parametrize(("release", "host", "guest", "taken"), list(matcher_pairs()))
def test_each_containerd_takes_what_its_sources_say(release: str, host: int, guest: int, *, taken: bool) -> None:
    assert matches(Build(host), Build(guest), release) is taken


@pytest.mark.parametrize(("host", "guest", "cell"), list(matrix_cells()))
def test_microsofts_matrix(host: str, guest: str, cell: str) -> None:
    here, there = resolve(host), resolve(guest)
    assert can_run(here, there, "process", "2.3.4").ok is ("P" in cell)
    pinned = can_run(here, there, "hyperv", "2.3.4", pool_guest=there).ok
    assert pinned is ("H" in cell)


def test_microsofts_matrix_between_the_retired_releases() -> None:
    releases = [resolve(text) for text in case("microsoft-matrix")["semi_annual"]["hosts"]]
    for host in releases:
        for guest in releases:
            assert can_run(host, guest, "process", "2.3.4").ok is (host.number == guest.number)
            assert can_run(host, guest, "hyperv", "2.3.4", pool_guest=guest).ok is (guest.number <= host.number)


@pytest.mark.parametrize(
    ("host", "guest", "ok"),
    [
        ("ltsc2022", "ltsc2022", True),
        ("ltsc2022", "ltsc2019", False),
        ("ltsc2025", "ltsc2025", True),
        ("ltsc2025", "ltsc2022", True),
        ("ltsc2025", "ltsc2019", False),
        ("ltsc2019", "ltsc2019", True),
        ("ltsc2019", "1803", False),
        ("23H2", "ltsc2022", False),
    ],
)
def test_hyperv_without_a_pinned_guest_boots_the_hosts_build(host: str, guest: str, *, ok: bool) -> None:
    # containerd#8348: CRI picks every image by the host's build, whatever the handler.
    assert can_run(resolve(host), resolve(guest), "hyperv", "2.3.4").ok is ok


@pytest.mark.parametrize("entry", case("refusals"), ids=lambda entry: "-".join(entry["asked"].values()))
def test_a_refusal_says_why_and_what_comes_nearest(entry: Mapping[str, Any]) -> None:
    asked = entry["asked"]
    pinned = resolve(asked["pool_guest"]) if "pool_guest" in asked else None
    verdict = can_run(resolve(asked["host"]), resolve(asked["guest"]), asked["isolation"], "2.3.4", pinned)
    assert (verdict.ok, verdict.reason, verdict.advice) == (False, entry["reason"], entry["advice"])


def test_a_pool_guest_that_is_the_hosts_own_pins_nothing() -> None:
    host = resolve("ltsc2025")
    assert can_run(host, host, "process", "2.3.4", pool_guest=host).ok


def test_only_23h2_cannot_isolate_with_hyperv() -> None:
    assert [build.label for build in map(Build, known()) if not supports_hyperv(build)] == ["10.0.25398"]


def test_a_containerd_that_is_no_version_is_refused() -> None:
    with pytest.raises(VersionError):
        matches(Build(20348), Build(20348), "2.3")


builds = st.one_of(st.sampled_from(sorted(known())), st.integers(14393, 65535)).map(Build)
isolations: st.SearchStrategy[Isolation] = st.sampled_from(("process", "hyperv"))


@given(builds, builds, isolations, st.sampled_from(RELEASES), st.none() | builds)
def test_what_is_proposed_runs_and_what_is_newer_never_does(
    host: Build, guest: Build, isolation: Isolation, containerd: str, pinned: Build | None
) -> None:
    verdict = can_run(host, guest, isolation, containerd, pinned)
    assert verdict.reason
    if guest.number > host.number:
        assert not verdict.ok
    for other in verdict.nearest:
        assert can_run(other.host, other.guest, other.isolation, containerd, other.pool_guest).ok
    assert not (verdict.ok and verdict.nearest)


def test_guests_are_what_has_base_images() -> None:
    aliases = "ltsc2016 1709 1803 ltsc2019 1903 1909 2004 20H2 ltsc2022 ltsc2025"
    assert [build.alias for build in published()] == aliases.split()
