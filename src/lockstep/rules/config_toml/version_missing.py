"""A file without `version`, which releases take for different things."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW404"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding where the file has no `version`.

    Source: containerd cmd/containerd/server/config/config.go (1.x reads version 1, 2.x version 0, which it migrates).
    """
    if not config.data or "version" in config.data:
        return
    version = (config.release or config.candidates[-1]).config_version_for_new_file
    new = config.layout.config_version
    message = "the file has no version, and what containerd makes of its sections is not the same in all releases"
    yield config.warning(RULE, (), message, fix=f"write version = {max(new, 2) if not config.release else version}")
