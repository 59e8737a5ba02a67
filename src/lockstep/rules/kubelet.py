"""The user's KubeletConfiguration fields: what kubelet would ignore, or stop at, on the pool's nodes."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.kubernetes import UnknownMinor, minor
from lockstep.finding import Finding
from lockstep.fleet.derivation.kubelet import planned_fields, settled_fields
from lockstep.fleet.model import Fleet, Pool
from lockstep.fleet.text.locate import Locator


def findings(fleet: Fleet, locator: Locator) -> Iterator[Finding]:
    """Yield what is wrong with the fields under each pool's `kubelet`."""
    for pool in fleet.pools.values():
        if pool.kubelet:
            yield from _pool_findings(pool, locator)


def _pool_findings(pool: Pool, locator: Locator) -> Iterator[Finding]:
    from lockstep.kubelet.check import check_fields  # noqa: PLC0415 - slow to import, and most pools have no own fields
    from lockstep.kubelet.fields import OTHER_MINOR, UNKNOWN_FIELD  # noqa: PLC0415

    try:
        facts = minor(pool.kubernetes)
    except UnknownMinor:
        return  # the derivation says so
    settled = settled_fields(pool, facts)
    for problem in check_fields(planned_fields(pool, facts), pool.kubernetes):
        if problem.path[0] in settled:
            continue  # the derivation tells what contradicts it
        path = ("pools", pool.name, "kubelet", *problem.path)
        misnamed = problem.rule in {UNKNOWN_FIELD, OTHER_MINOR}
        yield problem.finding(path[:3], locator.key(path) if misnamed else locator.value(path))
