"""An option that the runhcs shim has and nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW414"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each option without effect that is set. Source: microsoft/hcsshim, whose code never reads them."""
    for handler in config.runhcs_handlers:
        for key, value in handler.options.items():
            known = config.spelt(key, config.options)
            if known and value and not config.options[known].effect:
                message = f"nothing reads the option {known}"
                yield config.warning(RULE, (*handler.path, "options", key), message, fix=_fix(known), at_key=True)


def _fix(option: str) -> str:
    if option == "SandboxImage":
        return "take it out: the pause image is one setting for all handlers of a node"
    return "take it out"
