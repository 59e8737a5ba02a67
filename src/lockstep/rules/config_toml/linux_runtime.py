"""A runtime that no Windows node has."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import RUNHCS, ConfigToml
from lockstep.words import nearest

RULE = "LW419"

_LINUX = ("io.containerd.runc.v1", "io.containerd.runc.v2", "io.containerd.runtime.v1.linux", "io.containerd.runsc.v1")


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each handler with a Linux shim's runtime_type, or one that is nearly the Windows shim's.

    Source: containerd core/runtime/v2 (a runtime_type names a program: containerd-shim-runhcs-v1.exe).
    """
    for handler in config.handlers:
        found = handler.table.get("runtime_type")
        if not isinstance(found, str) or found == RUNHCS:
            continue
        linux = found in _LINUX or found.startswith("io.containerd.kata")
        if linux or nearest(found, [RUNHCS]):
            what = "is a shim for Linux" if linux else "names no shim"
            message = f"runtime_type of handler {handler.name} {what}: none of its pods starts on Windows"
            yield config.error(RULE, (*handler.path, "runtime_type"), message, fix=f"write '{RUNHCS}'")
