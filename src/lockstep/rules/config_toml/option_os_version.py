"""KEP-1301's SandboxOsVersion, which no shim ever had."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW415"
OPTION = "SandboxOsVersion"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding at each SandboxOsVersion.

    Source: KEP-1301, whose proposal has it; microsoft/hcsshim runhcs.proto, which never did.
    """
    for handler in config.runhcs_handlers:
        for key in handler.options:
            if key.lower().replace("_", "") == OPTION.lower():
                message = f"{OPTION} is no option of any shim: the guest's build is not chosen by a handler"
                hint = "a Hyper-V pod boots the pause image's build, and that is one image a node"
                fix = "give that guest a pool of its own (lockstep explain guest)"
                path = (*handler.path, "options", key)
                yield config.error(RULE, path, message, hint=hint, fix=fix, at_key=True)
