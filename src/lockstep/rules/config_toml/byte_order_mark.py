"""A byte order mark, at which containerd 2.x does not start."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW403"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding at the mark. Source: pelletier/go-toml v2, which containerd 2.x reads its file with."""
    if config.bom and not any(found.reads_byte_order_mark for found in config.candidates):
        message = "the file starts with a byte order mark, at which containerd 2.x does not start"
        yield config.error(RULE, (), message, fix="save the file as UTF-8 without a byte order mark")
