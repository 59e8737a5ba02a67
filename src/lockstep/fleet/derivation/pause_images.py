"""Each pool's pause image: the one that is planned, and what is wrong with one that is named."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog import pause
from lockstep.catalog.builds import Build
from lockstep.catalog.compatibility import matches
from lockstep.catalog.kubernetes import Minor, minor
from lockstep.finding import Finding, Severity
from lockstep.fleet.model import Pool

NO_PAUSE_IMAGE = "LW250"
PAUSE_LACKS_HOST = "LW251"
PAUSE_BY_TAG = "LW252"
PAUSE_BOOTS_OTHER = "LW253"


def pause_image(pool: Pool, minor_: Minor) -> tuple[list[Finding], str | None]:
    """Return what is wrong with the pool's pause image, and the image where there is one to go on with."""
    guest = pool.pinned_guest
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
