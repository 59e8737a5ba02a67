"""What each pool is by itself: its releases, what its utility VMs boot, its pause image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from lockstep.catalog import pause
from lockstep.catalog.builds import Build, similar
from lockstep.catalog.compatibility import matches, supports_hyperv
from lockstep.catalog.containerd import Series, UnknownSeries, series
from lockstep.catalog.kubernetes import Minor, UnknownMinor, minor
from lockstep.catalog.versions import Version, VersionError
from lockstep.finding import DataPath, Finding, Severity
from lockstep.fleet.model import Fleet, Pool

POOL_GUEST_IMPOSSIBLE = "LW213"
NO_PAUSE_IMAGE = "LW250"
PAUSE_LACKS_HOST = "LW251"
PAUSE_BY_TAG = "LW252"
PAUSE_BOOTS_OTHER = "LW253"
UNKNOWN_RELEASE = "LW260"
UNSUPPORTED_PAIR = "LW261"
TOO_FAR_APART = "LW262"
UNSUPPORTED_HOST = "LW263"
UNLISTED_BUILD = "LW264"
UNLISTED_MINOR = "LW265"

_SKEW = 3
"""How many minors a kubelet may be older than its kube-apiserver. Source: kubernetes/website, version skew policy."""


@dataclass(frozen=True, slots=True)
class Site:
    """A pool that can be planned for.

    `guest` is the build that it pins for its utility VMs, or None; `boots` is what they boot, or None where only the
    pause image's owner knows.
    """

    pool: Pool
    series: Series
    minor: Minor
    guest: Build | None
    pause_image: str
    boots: Build | None

    @property
    def effective_guest(self) -> Build:
        """The build that a Hyper-V container on the pool is of by default."""
        return self.guest or self.pool.host


def survey(fleet: Fleet) -> tuple[dict[str, Site], list[Finding]]:
    """Return the pools that can be planned for, by name, and everything that is wrong with any of them."""
    sites: dict[str, Site] = {}
    findings = list(_release_findings(fleet))
    for pool in fleet.pools.values():
        findings += _build_findings(pool)
        try:
            found, minor_ = series(pool.containerd), minor(pool.kubernetes)
        except (UnknownMinor, UnknownSeries, VersionError):
            continue
        wrong, image = _pause(pool, minor_)
        findings += wrong
        if image is not None:
            guest = pinned_guest(pool)
            boots = guest or pause.picked(image, pool.host, pool.containerd)
            sites[pool.name] = Site(pool, found, minor_, guest, image, boots)
    return sites, findings


def pinned_guest(pool: Pool) -> Build | None:
    """Return the build that the pool's utility VMs boot where it is not the host's own."""
    return None if pool.guest == pool.host else pool.guest


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
    guest = pinned_guest(pool)
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


def _pause(pool: Pool, minor_: Minor) -> tuple[list[Finding], str | None]:
    """Return what is wrong with the pool's pause image, and the image where there is one to go on with."""
    guest = pinned_guest(pool)
    path = ("pools", pool.name, "pause_image")
    if image := pool.pause_image:
        check = _pinned_image_findings if guest else _image_findings
        return list(check(pool, image, guest or pool.host)), image
    default = pause.single_platform_image(guest) if guest else pause.image_for(pool.host, pool.containerd, minor_.pause)
    if default:
        return [], default
    what = (
        f"no pause image of {guest} alone is known"
        if guest
        else f"{pause.REPOSITORY} has no manifest that containerd {pool.containerd} takes on {pool.host}"
    )
    fix = "name the image: pause_image: <registry>/pause@sha256:<digest of the build's own manifest>"
    return [Finding(NO_PAUSE_IMAGE, Severity.ERROR, path, f"pool {pool.name} needs a pause_image", what, fix)], None


def _image_findings(pool: Pool, image: str, host: Build) -> Iterator[Finding]:
    """Yield what is wrong with a named image on a pool whose utility VMs boot the host's own build."""
    if not pause.lacks(image, host):
        return
    builds = pause.manifests(image) or ()
    served = any(matches(host, build, pool.containerd) for build in builds)
    severity = Severity.ERROR if builds and not served else Severity.WARNING
    effect = "a Hyper-V pod would boot another build" if severity is Severity.WARNING else "no pod could start"
    better = pause.image_for(host, pool.containerd, minor(pool.kubernetes).pause)
    fix = f"leave pause_image out ({better} is used then), or use an image that has the build" if better else None
    message = f"pause image {image} has no manifest of {host}: {effect}"
    yield Finding(PAUSE_LACKS_HOST, severity, ("pools", pool.name, "pause_image"), message, fix=fix)


def _pinned_image_findings(pool: Pool, image: str, guest: Build) -> Iterator[Finding]:
    """Yield what is wrong with a named image on a pool whose utility VMs are to boot the guest's build."""
    path = ("pools", pool.name, "pause_image")
    better = pause.single_platform_image(guest)
    fix = f"leave pause_image out ({better} is used then), or name {guest.product}'s own manifest by digest"
    if not better:
        fix = f"name {guest.product}'s own manifest by digest"
    builds = pause.manifests(image)
    if builds is not None and builds != (guest,):
        boots = pause.picked(image, pool.host, pool.containerd)
        message = f"pause image {image} boots {boots.product if boots else 'nothing'} on {pool.host.product}"
        hint = f"pool {pool.name} promises guest {guest.alias}"
        yield Finding(PAUSE_BOOTS_OTHER, Severity.ERROR, path, message, hint, fix)
    elif builds is None and not pause.by_digest(image):
        message = f"a tag does not say that pause image {image} is of {guest.product} alone"
        hint = "of a multi-platform image, containerd takes the manifest of the host's build"
        yield Finding(PAUSE_BY_TAG, Severity.WARNING, path, message, hint, fix)


def _release_findings(fleet: Fleet) -> Iterator[Finding]:
    """Yield what is wrong with the pools' containerd and Kubernetes releases, once for each release or pair."""
    yield from _unknown_releases(fleet)
    minors: dict[Minor, Pool] = {}
    seen: set[tuple[str, ...]] = set()
    for pool in fleet.pools.values():
        try:
            found, containerd = minor(pool.kubernetes), Version.parse(pool.containerd)
        except (UnknownMinor, VersionError):
            continue
        minors.setdefault(found, pool)
        if (pair := (found.name, pool.containerd)) not in seen:
            seen.add(pair)
            yield from _pair_findings(pool, found, containerd, _release_path(fleet, pool, "containerd"))
        if (on := (found.name, pool.host.label)) not in seen:
            seen.add(on)
            yield from _host_findings(pool, found)
    yield from _skew_findings(minors)


def _unknown_releases(fleet: Fleet) -> Iterator[Finding]:
    pools = list(fleet.pools.values())[::-1]
    for pool in {pool.containerd: pool for pool in pools}.values():
        try:
            series(pool.containerd)
        except (UnknownSeries, VersionError) as error:
            yield _unknown_release(error, _release_path(fleet, pool, "containerd"))
    for pool in {pool.kubernetes: pool for pool in pools}.values():
        path = _release_path(fleet, pool, "kubernetes")
        try:
            if not minor(pool.kubernetes).known:
                message = f"Kubernetes {pool.kubernetes} is newer than the catalogue"
                hint = "it is treated as the newest that is known; what it removed or added is not seen"
                yield Finding(UNLISTED_MINOR, Severity.WARNING, path, message, hint)
        except UnknownMinor as error:
            yield _unknown_release(error, path)


def _unknown_release(error: ValueError, path: DataPath) -> Finding:
    what, _, expected = str(error).partition(": ")
    return Finding(UNKNOWN_RELEASE, Severity.ERROR, path, what, expected or None)


def _pair_findings(pool: Pool, found: Minor, containerd: Version, path: DataPath) -> Iterator[Finding]:
    """Yield a warning where containerd's own table leaves the pair out; a series newer than all of it passes."""
    listed = [Version.parse(release) for release in found.containerd]
    if not listed or containerd.minor_text not in {entry.minor_text for entry in listed}:
        works = not listed or containerd > max(listed)
    else:
        works = any(entry.minor_text == containerd.minor_text and entry <= containerd for entry in listed)
    if not works:
        message = f"containerd {pool.containerd} is not supported with Kubernetes {found.name}"
        hint = f"expected {', '.join(f'{entry.minor_text} from {entry}' for entry in listed)}"
        yield Finding(UNSUPPORTED_PAIR, Severity.WARNING, path, message, hint)


def _host_findings(pool: Pool, found: Minor) -> Iterator[Finding]:
    if found.windows_server and pool.host.facts and pool.host.number not in found.windows_server:
        message = f"Kubernetes {found.name} does not support nodes on {pool.host}"
        hint = f"expected {' or '.join(Build(number).product for number in found.windows_server)}"
        yield Finding(UNSUPPORTED_HOST, Severity.WARNING, ("pools", pool.name, "host"), message, hint)


def _skew_findings(minors: Mapping[Minor, Pool]) -> Iterator[Finding]:
    if not minors:
        return
    newest = max(minors, key=lambda found: found.number)
    for found, pool in minors.items():
        if newest.number[1] - found.number[1] > _SKEW:
            message = f"no kube-apiserver supports kubelets of {newest.name} and of {found.name}"
            hint = f"pool {minors[newest].name} has {newest.name}; a kubelet may be {_SKEW} minors older at most"
            yield Finding(TOO_FAR_APART, Severity.WARNING, ("pools", pool.name, "kubernetes"), message, hint)


def _release_path(fleet: Fleet, pool: Pool, key: Literal["kubernetes", "containerd"]) -> DataPath:
    """Return where a pool's release is written: for the whole fleet, or on the pool."""
    return (key,) if getattr(pool, key) == getattr(fleet, key) else ("pools", pool.name, key)
