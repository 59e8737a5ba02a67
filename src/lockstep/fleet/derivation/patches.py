"""Patch numbers, where the description gives them for a host and a guest of one build.

Process isolation only: in Hyper-V isolation the container's system is the utility VM's, not the host's.
Source: MicrosoftDocs/Virtualization-Documentation version-compatibility.md and update-containers.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from lockstep.catalog.builds import Build
from lockstep.finding import DataPath, Finding, Severity
from lockstep.fleet.model import Pool

GUEST_PATCHED_LATER = "LW214"
FEBRUARY_2020 = "LW215"
SAME_PATCH = "LW216"


@dataclass(frozen=True, slots=True)
class PatchProblem:
    """What is wrong between two patches of one build: the rule, in words, and what to change."""

    rule: str
    what: str
    fix: str
    hint: str | None = None


def extremes(pools: Iterable[Pool]) -> tuple[Pool, ...]:
    """Return, of the pools whose hosts' patch is known, those with the earliest and the latest of each build."""
    known = sorted(
        (pool for pool in pools if pool.host.revision is not None),
        key=lambda pool: (pool.host.number, pool.host.revision, pool.name),
    )
    by_build = [list(alike) for _, alike in groupby(known, key=lambda pool: pool.host.number)]
    return tuple({pool.name: pool for alike in by_build for pool in (alike[0], alike[-1])}.values())


def patch_findings(guest: Build, pools: Iterable[Pool], path: DataPath) -> Iterator[Finding]:
    """Yield, once a rule, what is wrong with a process-isolated guest's patch on pools such as `extremes` returns."""
    found = [patch_finding(guest, pool.host, pool.name, path) for pool in pools] if guest.revision is not None else []
    yield from {finding.rule: finding for finding in reversed(found) if finding}.values()


def patch_finding(guest: Build, host: Build, pool: str, path: DataPath) -> Finding | None:
    """Return a warning about the patches of a process-isolated guest and its host on a pool, or None."""
    problem = patch_problem(guest, host)
    if problem is None:
        return None
    both = f"a container of {guest.full} on pool {pool}, whose hosts are {host.full}"
    return Finding(problem.rule, Severity.WARNING, path, f"{both}: {problem.what}", problem.hint, problem.fix)


def patch_problem(guest: Build, host: Build) -> PatchProblem | None:
    """Return what is wrong between the patches of a process-isolated guest and its host, or None."""
    facts = host.facts
    if guest != host or facts is None or guest.revision is None or host.revision is None:
        return None
    if facts.same_patch:
        if guest.revision == host.revision:
            return None
        what = f"{facts.product} supports only its own patch"
        return PatchProblem(SAME_PATCH, what, f"use an image of {host.full}, tagged so")
    change = facts.february_2020
    if change is not None and (guest.revision < change) != (host.revision < change):
        hint = f"February 2020's change to system calls, {host.label}.{change}, lies between them"
        return PatchProblem(FEBRUARY_2020, "32-bit programs in it fail", "update the older of the two", hint)
    if guest.revision > host.revision:
        fix = f"update the hosts first, or use an image of {host.full} or older"
        return PatchProblem(GUEST_PATCHED_LATER, "an image patched later than its host may not start", fix)
    return None
