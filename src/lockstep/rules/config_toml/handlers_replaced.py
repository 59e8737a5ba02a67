"""Handlers of containerd 1.x's own that the file's handlers replace."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW421"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding where the file has handlers and leaves runhcs-wcow-process out, though another is the default.

    Source: containerd 1.7 services/server/config/config.go, mergeConfig.
    """
    release = config.release
    written = config.table(config.layout.handlers)
    stated = config.get(config.layout.default_handler)
    if release is None or release.merges_handlers or not written or release.default_handler in written:
        return
    if stated is not None and stated in written:
        message = f"the file's handlers replace containerd's own, and none of them is {release.default_handler}"
        fix = f"add {release.default_handler}: process-isolated and HostProcess pods belong on it"
        yield config.warning(RULE, config.layout.handlers, message, fix=fix, at_key=True)
