"""The user's KubeletConfiguration fields: what kubelet would ignore, or stop at, on the pool's nodes."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.kubernetes import UnknownMinor, minor
from lockstep.finding import Finding
from lockstep.fleet.derivation.kubelet import planned_fields, settled_fields
from lockstep.fleet.load import Loaded
from lockstep.fleet.model import KubeletFields
from lockstep.fleet.text.locate import Locator


def findings(loaded: Loaded) -> Iterator[Finding]:
    """Yield what is wrong with the fields under each pool's `kubelet`."""
    for name, own in loaded.kubelet.items():
        yield from _pool_findings(name, own, loaded.locator)


def _pool_findings(name: str, own: KubeletFields, locator: Locator) -> Iterator[Finding]:
    from lockstep.kubelet.check import check_fields  # noqa: PLC0415 - slow to import, and most pools have no own fields
    from lockstep.kubelet.fields import OTHER_MINOR, UNKNOWN_FIELD  # noqa: PLC0415

    try:
        facts = minor(own.version)
    except UnknownMinor:
        return  # the derivation says so
    settled = settled_fields(None, facts)
    for problem in check_fields(planned_fields(own.fields, None, facts), own.version):
        if problem.path[0] in settled:
            continue  # the derivation says what contradicts it
        prefix = ("pools", name, "kubelet")
        path = (*prefix, *problem.path)
        misnamed = problem.rule in {UNKNOWN_FIELD, OTHER_MINOR}
        yield problem.finding(prefix, locator.key(path) if misnamed else locator.value(path))
