"""Imports on containerd 1.x, which replace whole sections."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW428"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding at `imports` beside a CRI section of the file's own.

    Source: containerd 1.7 services/server/config/config.go, mergeConfig ("Replace entire sections").
    """
    release = config.release
    if release is None or release.merges_handlers or not config.data.get("imports"):
        return
    if config.table(config.layout.handlers[:2]):
        message = f"on containerd {release.name} imported files replace what this file says of CRI"
        yield config.warning(RULE, ("imports",), message, fix="keep the CRI plugin's settings in one file", at_key=True)
