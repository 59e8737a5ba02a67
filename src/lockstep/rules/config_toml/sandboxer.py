"""A sandboxer that the Windows shim cannot serve."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW425"

_KEYS = ("sandboxer", "sandbox_mode")
_POD = "podsandbox"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each handler with another sandboxer. Source: microsoft/hcsshim: the runhcs shim has no sandbox service."""
    for handler in config.runhcs_handlers:
        for key in _KEYS:
            value = handler.table.get(key)
            if isinstance(value, str) and value not in ("", _POD):
                message = f"{key} is '{value}', and the Windows shim has no sandbox service: no pod starts"
                yield config.error(RULE, (*handler.path, key), message, fix=f"write '{_POD}', or take it out")
