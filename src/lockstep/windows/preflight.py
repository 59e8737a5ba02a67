"""Whether a node can be one of its pool: everything that speaks against it, before anything is touched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from lockstep.catalog.builds import UnknownBuild, resolve
from lockstep.windows import features, machine, names
from lockstep.windows.aspect import Observed
from lockstep.windows.host import MACHINE, SYSTEM, WINRM, containers_run
from lockstep.windows.machine import Needs
from lockstep.windows.problem import Problem
from lockstep.windows.settings import HostSettings

_HYPERV = "Hyper-V"


@dataclass(frozen=True, slots=True)
class Site:
    """What is known of a node besides its answers.

    Its pool's Windows build, another host with its name, the time, the name that kubelet is told to use.
    """

    host: str | None
    other: str | None
    now: datetime
    node_name: str = ""


def problems(settings: HostSettings, needs: Needs, site: Site, observed: Observed) -> list[Problem]:
    """Return everything that speaks against this node, what refuses it first."""
    found = list(_all(settings, needs, site, observed))
    return sorted(found, key=lambda problem: not problem.refuses)


def _all(settings: HostSettings, needs: Needs, site: Site, observed: Observed) -> Iterator[Problem]:
    system, facts = observed(SYSTEM), observed(MACHINE)
    states = features.states(settings.features, observed)
    there = (features.INSTALLED, features.PENDING)
    yield from _build(system["build"], site.host)
    refused = list(machine.edition_problems(facts))
    yield from refused
    if not any(problem.refuses for problem in refused):
        yield from _features(settings, observed)
    yield from machine.size_problems(facts, needs, ready=containers_run(settings, observed))
    if needs.hyperv:
        yield from machine.virtualization_problems(facts, installed=states.get(_HYPERV) in there)
    yield from machine.winrm_problems(facts, observed(WINRM))
    yield from names.name_problems(system, site.other, site.node_name)
    yield from machine.clock_problems(facts, site.now)


def _build(build: str, host: str | None) -> Iterator[Problem]:
    if host is None:
        return
    described = resolve(host)
    try:
        found = resolve(build)
    except UnknownBuild as error:
        yield Problem("build", error.message, "see what this machine is")
        return
    if found != described:
        own = f"host {found.alias}"
        text = f"this node is {found}, but its pool describes host {described.alias} ({described.number})"
        do = f"put this node into the inventory group of a pool with {own}, or describe its pool with {own}"
        yield Problem("build", text, do)


def _features(settings: HostSettings, observed: Observed) -> Iterator[Problem]:
    states = features.states(settings.features, observed)
    unknown = [name for name, state in states.items() if state == features.UNKNOWN]
    if unknown:
        text = f"this Windows has no feature {', '.join(unknown)}"
        yield Problem("features", text, "see Get-WindowsFeature on the node; a server without ServerManager has none")
