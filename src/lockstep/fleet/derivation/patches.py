"""Patch numbers, where the description gives them for a host and a guest of one build.

Process isolation only: in Hyper-V isolation the container's system is the utility VM's, not the host's.
Source: MicrosoftDocs/Virtualization-Documentation version-compatibility.md and update-containers.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from lockstep.catalog.builds import Build
from lockstep.finding import DataPath, Finding, Severity
from lockstep.fleet.model import Pool

GUEST_PATCHED_LATER = "LW214"
FEBRUARY_2020 = "LW215"
SAME_PATCH = "LW216"


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
    facts = host.facts
    if guest != host or facts is None or guest.revision is None or host.revision is None:
        return None
    both = f"a container of {guest.full} on pool {pool}, whose hosts are {host.full}"
    if facts.same_patch:
        if guest.revision == host.revision:
            return None
        fix = f"use an image of {host.full}, tagged so"
        return Finding(
            SAME_PATCH, Severity.WARNING, path, f"{both}: {facts.product} supports only its own patch", fix=fix
        )
    change = facts.february_2020
    if change is not None and (guest.revision < change) != (host.revision < change):
        message = f"{both}: 32-bit programs in it fail"
        hint = f"February 2020's change to system calls, {host.label}.{change}, lies between them"
        fix = "update the older of the two"
        return Finding(FEBRUARY_2020, Severity.WARNING, path, message, hint, fix)
    if guest.revision > host.revision:
        fix = f"update the hosts first, or use an image of {host.full} or older"
        message = f"{both}: an image patched later than its host may not start"
        return Finding(GUEST_PATCHED_LATER, Severity.WARNING, path, message, fix=fix)
    return None
