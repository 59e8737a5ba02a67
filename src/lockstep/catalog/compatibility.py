"""What runs where: a guest's Windows build, on a host's, with one isolation, under one containerd.

Three things have to agree: the image matcher of that containerd, which picks an image's manifest with the host's build
whatever the handler; Windows itself, which never runs a newer guest on an older host; and Microsoft's matrix. Under
Hyper-V isolation the utility VM boots from the pause image, so it is of the host's build, unless the pool pins another
(`pool_guest`): then it is of that build and of no other.

Sources are beside the facts, in data/containerd.yaml (the matcher) and data/windows-builds.yaml (what Windows refuses).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from lockstep.catalog.builds import Build, known
from lockstep.catalog.data import load
from lockstep.catalog.versions import Version

Isolation = Literal["process", "hyperv"]


@dataclass(frozen=True, slots=True)
class Combination:
    """A guest in one isolation on a host, whose pool pins `pool_guest` for its utility VMs, or None."""

    host: Build
    guest: Build
    isolation: Isolation
    pool_guest: Build | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether what was asked runs; why (not), in one sentence without a full stop; and what comes nearest and does."""

    ok: bool
    reason: str
    asked: Combination
    nearest: tuple[Combination, ...] = ()

    @property
    def advice(self) -> str | None:
        """What to change so that it runs: `use guest ltsc2022, or a pool with host ltsc2025`; None if unknown."""
        changes = ", or ".join(_change(self.asked, other) for other in self.nearest)
        return f"use {changes}" if changes else None


def accepted(host: Build, containerd: str) -> tuple[int, int]:
    """Return the oldest and the newest build number whose images this containerd takes on the host.

    Raises VersionError where `containerd` is no full version.
    """
    return _accepted(host.number, _rule(containerd))


def matches(host: Build, guest: Build, containerd: str) -> bool:
    """Return whether this containerd takes an image of the guest's build on the host, in any handler.

    Raises VersionError where `containerd` is no full version.
    """
    oldest, newest = accepted(host, containerd)
    return oldest <= guest.number <= newest


def supports_hyperv(host: Build) -> bool:
    """Return whether the host's Windows can run containers in Hyper-V isolation at all."""
    return host.facts is None or host.facts.hyperv


def can_run(
    host: Build, guest: Build, isolation: Isolation, containerd: str, pool_guest: Build | None = None
) -> Verdict:
    """Return whether a container of the guest's build runs on the host, and otherwise what comes nearest.

    `pool_guest` is the build that the pool pins for its utility VMs, None (or the host's own) where it pins none.
    Raises VersionError where `containerd` is no full version.
    """
    pinned = None if pool_guest == host else pool_guest
    return _verdict(Combination(host, guest, isolation, pinned), containerd)


@cache
def published() -> tuple[Build, ...]:
    """Return the builds that Microsoft publishes base images of, oldest first: the guests that there are."""
    return tuple(Build(number) for number, facts in known().items() if facts.base_images)


@lru_cache(maxsize=4096)
def _verdict(asked: Combination, containerd: str) -> Verdict:
    if refusal := _refusal(asked, containerd):
        return Verdict(ok=False, reason=refusal, asked=asked, nearest=tuple(_alternatives(asked, containerd)))
    return Verdict(ok=True, reason=_why(asked, containerd), asked=asked)


def _refusal(asked: Combination, containerd: str) -> str | None:
    """Return why it does not run, or None."""
    host, guest = asked.host, asked.guest
    if guest.facts and not guest.facts.base_images:
        return f"{guest} is no guest: Microsoft publishes no base image of it"
    for what, build in (("guest", guest), ("the pool's guest", asked.pool_guest)):
        if build and build > host:
            return f"{what} {build.number} is newer than host {host.number}"
    if refused := _refused_by_matrix(asked):
        return refused
    if asked.pool_guest:
        return _refused_by_pin(asked, asked.pool_guest)
    if not matches(host, guest, containerd):
        oldest, newest = accepted(host, containerd)
        only = f"only {newest}" if oldest == newest else f"{oldest} to {newest}"
        where = "the utility VM is of the host's build, and " if asked.isolation == "hyperv" else ""
        return f"{where}containerd {containerd} takes images of {only} on host {host.number}, not {guest.number}"
    return None


def _refused_by_matrix(asked: Combination) -> str | None:
    if asked.isolation == "hyperv" and not supports_hyperv(asked.host):
        return f"{asked.host} cannot run containers in Hyper-V isolation"
    only = asked.host.facts.guests if asked.host.facts else None
    if only is not None and asked.guest.number not in only:
        return f"{asked.host} runs only guests of {' and '.join(str(Build(number)) for number in only)}"
    return None


def _refused_by_pin(asked: Combination, pinned: Build) -> str | None:
    if asked.isolation == "process":
        return f"the pool's pause image is of {pinned}, so that a process-isolated pod cannot start on {asked.host}"
    if asked.guest != pinned:
        return f"every utility VM of the pool boots {pinned}, not {asked.guest}"
    return None


def _why(asked: Combination, containerd: str) -> str:
    if asked.pool_guest:
        return f"every utility VM of the pool boots {asked.pool_guest}"
    if asked.guest == asked.host:
        return "host and guest are of one build"
    oldest, newest = accepted(asked.host, containerd)
    return f"containerd {containerd} takes images of {oldest} to {newest} on host {asked.host.number}"


def _alternatives(asked: Combination, containerd: str) -> Iterator[Combination]:
    """Yield what runs and is nearest to what was asked: another guest there, then another pool for that guest."""
    guests = sorted(published(), key=lambda build: (abs(build.number - asked.guest.number), build.number))
    same_pool = (Combination(asked.host, guest, asked.isolation, asked.pool_guest) for guest in guests)
    pinned = [Combination(asked.host, asked.guest, "hyperv", asked.guest)] if asked.guest != asked.host else []
    hosts = sorted(published(), key=lambda build: (build != asked.guest, build.number))
    other_pools = (Combination(host, asked.guest, asked.isolation) for host in hosts)
    for options in (same_pool, pinned, other_pools):
        yield from [option for option in options if _refusal(option, containerd) is None][:1]


def _change(asked: Combination, other: Combination) -> str:
    if other.host == asked.host and other.pool_guest == asked.pool_guest:
        return f"guest {other.guest.alias}"
    guest = f" and guest {other.pool_guest.alias}" if other.pool_guest else ""
    isolation = "" if other.isolation == asked.isolation else f"isolation {other.isolation} in "
    return f"{isolation}a pool with host {other.host.alias}{guest}"


def _accepted(host: int, rule: str) -> tuple[int, int]:
    stable: list[int] = load("containerd")["matcher_stable"]
    if rule == "exact" or host < stable[0]:
        return host, host
    index = {"first": 0, "below": bisect_left(stable, host) - 1, "generation": bisect_right(stable, host) - 2}[rule]
    return stable[max(index, 0)], host


@cache
def _rule(containerd: str) -> str:
    """Return the name of the rule that this containerd follows: of the newest step that is no newer than it."""
    version = Version.parse(containerd)
    steps = [step for series in load("containerd")["series"].values() for step in series.get("matcher", ())]
    followed = [step for step in steps if Version.parse(step["from"]) <= version]
    return str(max(followed, key=lambda step: Version.parse(step["from"]))["rule"]) if followed else "exact"
