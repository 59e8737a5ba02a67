"""A handler that names no shim."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import RUNHCS, ConfigToml

RULE = "LW435"

_KEY = "runtime_type"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each handler without runtime_type, unless containerd has one of that name to which the file's adds.

    A file with imports may have it in one of them. Source: containerd core/metadata/containers.go, validateContainer.
    """
    if config.data.get("imports"):
        return
    for handler in config.handlers:
        if any(value != "" for key, value in handler.table.items() if config.spelt(key, config.handler_keys) == _KEY):
            continue
        if any(found.merges_handlers and handler.name in found.default_handlers for found in config.candidates):
            continue
        message = f"handler {handler.name} has no runtime_type: none of its pods starts"
        yield config.error(RULE, (*handler.path, _KEY), message, fix=f"write runtime_type = '{RUNHCS}'", at_key=True)
