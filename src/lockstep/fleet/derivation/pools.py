"""What each pool is by itself: its releases, what its utility VMs boot, its pause image."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lockstep.catalog import pause
from lockstep.catalog.builds import Build, similar
from lockstep.catalog.compatibility import supports_hyperv
from lockstep.catalog.containerd import Series, UnknownSeries, series
from lockstep.catalog.kubernetes import Minor, UnknownMinor, minor
from lockstep.catalog.versions import VersionError
from lockstep.finding import DataPath, Finding, Severity
from lockstep.fleet.derivation.pause_images import pause_image
from lockstep.fleet.derivation.releases import release_findings
from lockstep.fleet.model import Fleet, Pool

POOL_GUEST_IMPOSSIBLE = "LW213"
UNLISTED_BUILD = "LW264"


@dataclass(frozen=True, slots=True)
class Site:
    """A pool that can be planned for.

    `boots` is the build that its utility VMs boot, or None where only the pause image's owner knows.
    """

    pool: Pool
    series: Series
    minor: Minor
    pause_image: str
    boots: Build | None


def survey(fleet: Fleet) -> tuple[dict[str, Site], list[Finding]]:
    """Return the pools that can be planned for, by name, and everything that is wrong with any of them."""
    sites: dict[str, Site] = {}
    findings = list(release_findings(fleet))
    for pool in fleet.pools.values():
        findings += _build_findings(pool)
        try:
            found, minor_ = series(pool.containerd), minor(pool.kubernetes)
        except (UnknownMinor, UnknownSeries, VersionError):
            continue
        wrong, image = pause_image(pool, minor_)
        findings += wrong
        if image is not None:
            boots = pool.pinned_guest or pause.picked(image, pool.host, pool.containerd)
            sites[pool.name] = Site(pool, found, minor_, image, boots)
    return sites, findings


def unlisted(build: Build, path: DataPath) -> Finding | None:
    """Return a warning about a build that the catalogue does not list, or None."""
    if build.facts:
        return None
    near = similar(build)
    hint = f"did you mean {near.number} ({near.product})?" if near else "taken for a preview of a coming Windows"
    return Finding(UNLISTED_BUILD, Severity.WARNING, path, f"build {build.number} is not in the catalogue", hint)


def _build_findings(pool: Pool) -> Iterator[Finding]:
    path: DataPath = ("pools", pool.name)
    for key, build in (("host", pool.host), ("guest", pool.guest)):
        if build and (finding := unlisted(build, (*path, key))):
            yield finding
    guest = pool.pinned_guest
    if guest is None:
        return
    if guest > pool.host:
        reason = f"guest {guest.number} is newer than host {pool.host.number}"
        fix = f"leave guest out, or give the pool host {guest.alias}"
    elif not supports_hyperv(pool.host):
        reason, fix = f"{pool.host} cannot run containers in Hyper-V isolation", "leave guest out"
    elif guest.facts and not guest.facts.base_images:
        reason, fix = f"{guest} has no base images", "use a guest that has, such as ltsc2022"
    else:
        return
    message = f"utility VMs of pool {pool.name} cannot boot {guest.product}"
    yield Finding(POOL_GUEST_IMPOSSIBLE, Severity.ERROR, (*path, "guest"), message, reason, fix)
