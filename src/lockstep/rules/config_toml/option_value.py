"""An option's value that the runhcs shim does not take."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.containerd.settings import value_problem
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW413"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each value of a wrong type or out of range: containerd starts, and no pod of the handler does.

    Options are decoded when a pod is created; enums are numbers there, and a text for one is an error.
    Source: containerd internal/cri/config/config.go (GenerateRuntimeOptions), microsoft/hcsshim runhcs.proto.
    """
    for handler in config.runhcs_handlers:
        for key, value in handler.options.items():
            known = config.spelt(key, config.options)
            expected = value_problem(value, config.options[known]) if known else None
            if expected:
                message = f"the option {known} is not {expected}: no pod of handler {handler.name} starts"
                path, number = (*handler.path, "options", key), _number(value)
                fits = number is not None and known and value_problem(int(number), config.options[known]) is None
                fix = f"write the number without quotes: {known} = {number}" if fits else None
                yield config.error(RULE, path, message, fix=fix, replacement=number if fits else None)


def _number(value: object) -> str | None:
    """Return the whole number that a text holds, or None."""
    found = value.strip() if isinstance(value, str) else ""
    return str(int(found)) if found.isascii() and found.isdigit() else None
