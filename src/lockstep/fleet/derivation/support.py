"""Windows whose support has ended, as a host or as a guest."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.builds import Build
from lockstep.catalog.data import known_until
from lockstep.catalog.kubernetes import known_minors, minor
from lockstep.finding import DataPath, Finding, Severity
from lockstep.fleet.model import Fleet

WINDOWS_ENDED = "LW266"


def support_findings(fleet: Fleet) -> Iterator[Finding]:
    """Yield a warning for each Windows without support, at the first place that names it.

    What has ended by the day up to which the catalogue was read counts: no clock is asked.
    """
    seen: set[Build] = set()
    for build, path, what in _uses(fleet):
        end = build.facts.end if build.facts else None
        if build not in seen and end and end < known_until():
            seen.add(build)
            current = " or ".join(Build(number).alias for number in minor(known_minors()[-1]).windows_server)
            message = f"support of {build} ended on {end}"
            yield Finding(WINDOWS_ENDED, Severity.WARNING, path, message, fix=f"{what} {current}")


def _uses(fleet: Fleet) -> Iterator[tuple[Build, DataPath, str]]:
    for pool in fleet.pools.values():
        yield pool.host, ("pools", pool.name, "host"), "replace its nodes by such with"
        if pool.guest:
            yield pool.guest, ("pools", pool.name, "guest"), "build its images on"
    for item in fleet.runtime_classes.values():
        if item.guest:
            yield item.guest, ("runtime_classes", item.name, "guest"), "build its images on"
