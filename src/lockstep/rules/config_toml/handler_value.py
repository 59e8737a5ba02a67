"""A handler's value of a type that containerd does not decode."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.containerd.settings import value_problem
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW411"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each value of a wrong type, and handlers that are no table: containerd does not start with either.

    Source: `toml: cannot decode TOML string into struct field config.Runtime.PodAnnotations of type []string`.
    """
    tables = {handler.name for handler in config.handlers}
    for name in config.table(config.layout.handlers):
        if name not in tables:
            message = f"handler {name} is no table: containerd does not start"
            yield config.error(RULE, (*config.layout.handlers, name), message)
    for handler in config.handlers:
        for key, value in handler.table.items():
            known = config.spelt(key, config.handler_keys)
            if known is None:
                continue
            facts = config.handler_keys[known]
            expected = None if facts.type == "table" and isinstance(value, dict) else value_problem(value, facts)
            if expected:
                message = f"{known} of handler {handler.name} is not {expected}: containerd does not start"
                if facts.type == "table":
                    message = f"{known} of handler {handler.name} is no table: containerd does not start"
                yield config.error(RULE, (*handler.path, key), message)
