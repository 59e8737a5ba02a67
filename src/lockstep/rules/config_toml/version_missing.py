"""A file without `version`, which releases take for different things."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import CRI, CRI_SHORT, ConfigToml

RULE = "LW404"

_OLD = 2
"""The version whose names the sections have."""


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding where the file has no `version`.

    Source: containerd cmd/containerd/server/config/config.go (1.x reads version 1, 2.x version 0, which it migrates).
    """
    if not config.data or "version" in config.data:
        return
    plugins = config.table(("plugins",))
    release = config.release or config.candidates[-1]
    wanted = _OLD if plugins.keys() & {CRI, CRI_SHORT} else release.config_version_for_new_file
    message = "the file has no version, and what containerd makes of its sections is not the same in all releases"
    yield config.warning(RULE, (), message, fix=f"write version = {wanted}")
