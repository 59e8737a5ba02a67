"""An option that the runhcs shim does not have."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.config_toml.option_os_version import OPTION
from lockstep.rules.given.config_toml import ConfigToml
from lockstep.words import nearest

RULE = "LW412"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each option that is dropped without a word when a pod is created; snake_case spellings are among them.

    Source: microsoft/hcsshim cmd/containerd-shim-runhcs-v1/options/runhcs.proto.
    """
    for handler in config.runhcs_handlers:
        for key in handler.options:
            if config.spelt(key, config.options) is not None or key.lower() == OPTION.lower():
                continue
            meant = nearest(key.replace("_", ""), config.options)
            message = f"the shim has no option '{key}', and drops it without a word"
            hint = f"did you mean '{meant}'?" if meant else None
            fix = None if hint else "take it out"
            yield config.error(RULE, (*handler.path, "options", key), message, hint=hint, fix=fix, at_key=True)
