"""One key in two spellings that containerd reads as the same."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW434"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each later spelling of a handler's key or option.

    Source: pelletier/go-toml, whose decoder gives a field the last value.
    """
    for handler in config.handlers:
        options = ((*handler.path, "options"), handler.options, config.options)
        tables = ((handler.path, handler.table, config.handler_keys), options)
        for path, table, known in tables:
            first: dict[str, str] = {}
            for key in table:
                spelt = config.spelt(key, known)
                if spelt is not None and first.setdefault(spelt, key) != key:
                    message = f"'{key}' and '{first[spelt]}' are one key to containerd, and the last one wins"
                    yield config.error(RULE, (*path, key), message, fix="keep one of them", at_key=True)
