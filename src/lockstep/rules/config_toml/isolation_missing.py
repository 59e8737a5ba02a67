"""A handler that is called Hyper-V's and runs processes, or the reverse."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lockstep.catalog.containerd import Series
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml, Handler

RULE = "LW416"

OPTION = "SandboxIsolation"
_HYPERV = re.compile(r"hyper-?v(?:isor)?\b", re.IGNORECASE)


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each handler whose name says Hyper-V and whose options do not; a warning where they say process.

    Source: microsoft/hcsshim runhcs.proto: without SandboxIsolation the isolation is 0, process.
    """
    for handler in config.runhcs_handlers:
        isolations = {_isolation(handler, found) for found in config.candidates}
        named = bool(_HYPERV.search(handler.name))
        path = (*handler.path, "options", OPTION)
        if named and isolations == {0}:
            message = f"handler {handler.name} runs its containers as processes: {OPTION} is not 1"
            tell = (
                config.warning
                if any(config.spelt(key, config.options) == OPTION for key in handler.options)
                else config.error
            )
            yield tell(RULE, path, message, fix=f"write {OPTION} = 1 under its options")
        elif not named and isolations == {1} and "process" in handler.name:
            message = f"handler {handler.name} runs its containers in utility VMs: {OPTION} is 1"
            yield config.warning(RULE, path, message, fix="name it runhcs-wcow-hypervisor, or write 0")


def _isolation(handler: Handler, release: Series) -> int:
    """Return the isolation in effect; -1 for a value that another rule speaks of."""
    own = release.default_handlers.get(handler.name) if release.merges_handlers else None
    stated = [value for key, value in handler.options.items() if release.reads(key, OPTION)]
    found = stated[-1] if stated else own.options.get(OPTION, 0) if own else 0
    return found if type(found) is int else -1
