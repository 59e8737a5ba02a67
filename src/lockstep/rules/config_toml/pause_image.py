"""A pause image that has no manifest for the node's Windows."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog import pause
from lockstep.catalog.builds import Build
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

    The facts are in the catalogue's pause-images.
    """
    host = config.context.host
    if host is None:
        return
    stated = config.get(config.layout.pause_image)
    image = stated if isinstance(stated, str) else config.release.default_pause if config.release else None
    if image is None or not pause.lacks(image, host) or boots(config) is not None:
        return
    whose = "" if stated is not None else f", which containerd {config.release.version if config.release else ''} takes"
    message = f"the pause image {image}{whose} has no manifest for {host}: no pod starts as it should"
    good = pause.image_for(host, config.candidates[-1].version, "3.6")
    fix = f"use {good}" if good else "use an image that has one"
    yield config.error(RULE, config.layout.pause_image, message, fix=fix)
