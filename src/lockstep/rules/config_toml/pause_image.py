"""A pause image that has no manifest for the node's Windows."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog import pause
from lockstep.catalog.builds import Build
from lockstep.catalog.compatibility import matches
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW422"

_ONE_PLATFORM = "-windows-"


def boots(config: ConfigToml) -> Build | None:
    """Return the build that utility VMs boot where the pause image, being of one platform, says it; else None."""
    stated = config.get(config.layout.pause_image)
    builds = pause.manifests(stated) if isinstance(stated, str) and _ONE_PLATFORM in stated else None
    return builds[0] if builds else None


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding where the file's pause image, or else the release's own, lacks the host's build.

    It is an error where containerd takes none of the image's manifests, a warning where it takes one of another build,
    which utility VMs then boot. The facts are in the catalogue's pause images and matcher.
    """
    host = config.context.host
    stated = config.get(config.layout.pause_image)
    own = config.release.default_pause if config.release else None
    image = stated if isinstance(stated, str) else own
    if host is None or image is None or not pause.lacks(image, host) or boots(config) is not None:
        return
    builds = pause.manifests(image) or ()
    served = [
        found.version for found in config.candidates if any(matches(host, build, found.version) for build in builds)
    ]
    whose = "" if stated is not None else ", which containerd takes by itself,"
    effect = "a Hyper-V pod boots another build" if served or not builds else "no pod starts"
    message = f"the pause image {image}{whose} has no manifest of {host}: {effect}"
    good = pause.image_for(host, config.candidates[-1].version, "3.6")
    tell = config.warning if served or not builds else config.error
    yield tell(RULE, config.layout.pause_image, message, fix=f"use {good}" if good else "use an image that has one")
