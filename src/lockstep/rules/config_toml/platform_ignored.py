"""A platform for a handler's images, which nothing consults."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW430"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each runtime_platforms entry with a platform.

    Source: containerd plugins/cri/images/plugin.go: it is parsed, and only the snapshotter beside it is used.
    """
    where = config.layout.handler_platforms
    for name, table in config.table(where).items() if where else ():
        if where and isinstance(table, dict) and table.get("platform"):
            message = f"nothing consults the platform of handler {name}: images are picked by the host's"
            path = (*where, name, "platform")
            yield config.warning(RULE, path, message, fix="take it out", at_key=True)
