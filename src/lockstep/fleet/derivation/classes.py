"""Where each class runs: its pools, its guest, and whether that can work there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lockstep.catalog import pause
from lockstep.catalog.builds import Build
from lockstep.catalog.compatibility import can_run, matches
from lockstep.finding import DataPath, Finding, Severity
from lockstep.fleet.derivation.patches import extremes, patch_findings
from lockstep.fleet.derivation.pause_images import PAUSE_BOOTS_OTHER
from lockstep.fleet.derivation.pools import Site, unlisted
from lockstep.fleet.model import Fleet, Isolation, Pool, RuntimeClass
from lockstep.k8s.taints import Taint

NO_POOL = "LW201"
NO_COMMON_GUEST = "LW203"
GUEST_NEWER = "LW210"
CANNOT_RUN = "LW211"
POOL_GUEST_DIFFERS = "LW212"
NO_OVERHEAD = "LW224"

_FEW = 3


@dataclass(frozen=True, slots=True, eq=False)
class PoolSet:
    """The pools of one or more classes: one object for equal sets, so that what holds for it is found once.

    `names` has the fleet's order. `kinds` holds one site for each way in which the pools differ for what can run,
    `patched` the pools whose hosts have the earliest and the latest patch of each build.
    """

    names: tuple[str, ...]
    members: frozenset[str]
    hosts: frozenset[Build]
    taints: tuple[Taint, ...]
    kinds: tuple[Site, ...]
    patched: tuple[Pool, ...]


@dataclass(frozen=True, slots=True)
class Placement:
    """A class with its pools and its guest."""

    runtime_class: RuntimeClass
    pools: PoolSet
    guest: Build


@dataclass
class _Sets:
    """Makes pool sets, one for equal sets of names; names of pools that cannot be planned for are left out."""

    sites: Mapping[str, Site]
    order: Mapping[str, int]
    made: dict[frozenset[str], PoolSet] = field(default_factory=dict)

    def of(self, names: Iterable[str]) -> PoolSet:
        members = frozenset(name for name in names if name in self.sites)
        if members not in self.made:
            ordered = tuple(sorted(members, key=self.order.__getitem__))
            here = [self.sites[name] for name in ordered]
            taints = {site.pool.taint for site in here if site.pool.taint}
            kinds: dict[tuple[object, ...], Site] = {}
            for site in here:
                kinds.setdefault(_kind(site), site)
            self.made[members] = PoolSet(
                names=ordered,
                members=members,
                hosts=frozenset(site.pool.host for site in here),
                taints=tuple(sorted(taints, key=lambda taint: (taint.key, taint.value, taint.effect))),
                kinds=tuple(kinds.values()),
                patched=extremes(site.pool for site in here),
            )
        return self.made[members]


def place(fleet: Fleet, sites: Mapping[str, Site]) -> tuple[list[Placement], list[Finding]]:
    """Return every class that has pools and a guest, and what is wrong with any class's pools, guest or isolation."""
    sets = _Sets(sites, {name: index for index, name in enumerate(fleet.pools)})
    defaults = _Defaults(fleet.pools, sets)
    placements: list[Placement] = []
    findings: list[Finding] = []
    for item in fleet.runtime_classes.values():
        pools, wrong = _pools_of(item, fleet.pools, sets, defaults)
        findings += wrong
        if pools is None or not pools.names:
            continue
        guest = item.guest or _common_guest(pools)
        if guest is None:
            findings.append(_no_common_guest(item, pools))
            continue
        placements.append(Placement(item, pools, guest))
        findings += _guest_findings(item, pools, guest)
    return placements, findings


class _Defaults:
    """The pools of classes that name none: those that give the class's guest."""

    def __init__(self, pools: Mapping[str, Pool], sets: _Sets) -> None:
        self._sets = sets
        self._kinds = sets.of(pools).kinds
        self._names: dict[tuple[Isolation, Build], list[str]] = {}
        self._found: dict[tuple[Isolation, Build], PoolSet] = {}
        for pool in pools.values():
            pinned = pool.pinned_guest
            self._names.setdefault(("hyperv", pinned or pool.host), []).append(pool.name)
            if pinned is None:
                self._names.setdefault(("process", pool.host), []).append(pool.name)

    def of(self, isolation: Isolation, guest: Build) -> PoolSet | None:
        """Return the pools, or None where no pool gives the guest."""
        key = (isolation, guest)
        if key not in self._found and key in self._names:
            self._found[key] = self._sets.of(self._names[key])
        return self._found.get(key)

    def could(self, isolation: Isolation, guest: Build) -> list[str]:
        """Return a few pools that could run the guest if the class named them."""
        able = (
            site.pool.name
            for site in self._kinds
            if can_run(site.pool.host, guest, isolation, site.pool.containerd, site.pool.pinned_guest).ok
        )
        return sorted(able)[:_FEW]


def _pools_of(
    item: RuntimeClass, pools: Mapping[str, Pool], sets: _Sets, defaults: _Defaults
) -> tuple[PoolSet | None, list[Finding]]:
    path: DataPath = ("runtime_classes", item.name)
    if item.pools is not None:
        if all(name in pools for name in item.pools) and item.pools:
            return sets.of(item.pools), []
        fix = "name its pools, or leave pools out for every pool that gives the guest"
        return None, [Finding(NO_POOL, Severity.ERROR, (*path, "pools"), f"class {item.name} has no pool", fix=fix)]
    if item.guest is None:
        message = f"class {item.name} has neither guest nor pools"
        fix = "say which guest it needs (guest: ltsc2022), or which pools it runs on"
        return None, [Finding(NO_COMMON_GUEST, Severity.ERROR, path, message, fix=fix)]
    found = defaults.of(item.isolation, item.guest)
    return found, [] if found else [_no_default_pool(item, item.guest, defaults)]


def _no_default_pool(item: RuntimeClass, guest: Build, defaults: _Defaults) -> Finding:
    able = defaults.could(item.isolation, guest)
    own = f"add a pool with host {guest.alias}"
    fix = f"name pools that can run it (pools: [{', '.join(able)}]), or {own}" if able else own
    message = f"no pool gives class {item.name} its guest, {guest.product}"
    hint = "a class that names no pools gets those whose own guest is the class's"
    return Finding(NO_POOL, Severity.ERROR, ("runtime_classes", item.name, "guest"), message, hint, fix)


def _common_guest(pools: PoolSet) -> Build | None:
    guests = {site.pool.effective_guest for site in pools.kinds}
    return guests.pop() if len(guests) == 1 else None


def _no_common_guest(item: RuntimeClass, pools: PoolSet) -> Finding:
    given = ", ".join(f"{site.pool.name} gives {site.pool.effective_guest.alias}" for site in pools.kinds[:_FEW])
    message = f"the pools of class {item.name} do not share one guest"
    path: DataPath = ("runtime_classes", item.name, "pools")
    return Finding(NO_COMMON_GUEST, Severity.ERROR, path, message, given, "say which guest the class needs")


def _guest_findings(item: RuntimeClass, pools: PoolSet, guest: Build) -> Iterator[Finding]:
    path: DataPath = ("runtime_classes", item.name)
    at_guest: DataPath = (*path, "guest") if item.guest else path
    if item.guest and (finding := unlisted(item.guest, at_guest)):
        yield finding
    for site in pools.kinds:
        if finding := _refused(item, site, guest, at_guest) or _boots_other(item, site, guest):
            yield finding
    if item.isolation == "process":
        yield from patch_findings(guest, pools.patched, at_guest)
    if item.isolation == "hyperv" and not item.overhead:
        message = f"class {item.name} has no overhead, so the scheduler counts nothing for its utility VMs"
        fix = "add what SIG Windows' own tests use: overhead: {memory: 512Mi, cpu: 100m}"
        yield Finding(NO_OVERHEAD, Severity.WARNING, path, message, fix=fix)


def _refused(item: RuntimeClass, site: Site, guest: Build, path: DataPath) -> Finding | None:
    host = site.pool.host
    verdict = can_run(host, guest, item.isolation, site.pool.containerd, site.pool.pinned_guest)
    if verdict.ok:
        return None
    rule = CANNOT_RUN
    if guest > host:
        rule = GUEST_NEWER
    elif site.pool.pinned_guest:
        rule = POOL_GUEST_DIFFERS
    how = "in process isolation" if item.isolation == "process" else "in Hyper-V isolation"
    message = f"a container of {guest.product} cannot run {how} on pool {site.pool.name}"
    return Finding(rule, Severity.ERROR, path, message, verdict.reason, verdict.advice)


def _boots_other(item: RuntimeClass, site: Site, guest: Build) -> Finding | None:
    """Return what is wrong where the pool's pause image makes utility VMs boot a build that the guest does not fit."""
    boots = site.boots
    if (
        item.isolation == "process"
        or site.pool.pinned_guest
        or boots is None
        or matches(boots, guest, site.pool.containerd)
    ):
        return None
    message = f"utility VMs of pool {site.pool.name} boot {boots.product}, and class {item.name} needs {guest.product}"
    better = pause.image_for(site.pool.host, site.pool.containerd, site.minor.pause)
    hint = f"they boot what containerd takes of {site.pause_image}"
    fix = f"use a pause image that has {guest.product}" + (f", such as {better}" if better else "")
    path: DataPath = ("pools", site.pool.name, "pause_image")
    return Finding(PAUSE_BOOTS_OTHER, Severity.ERROR, path, message, hint, fix)


def _kind(site: Site) -> tuple[object, ...]:
    return (site.pool.host, site.pool.pinned_guest, site.pool.containerd, site.boots)
