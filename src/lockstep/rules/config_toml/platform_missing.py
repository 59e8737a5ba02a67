"""Options without SandboxPlatform, on the releases whose shim refuses that."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.containerd_files import needs_sandbox_platform
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW418"

OPTION = "SandboxPlatform"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each handler with options and without a platform.

    Source: microsoft/hcsshim cmd/containerd-shim-runhcs-v1/pod.go at v0.14.0-rc.1.
    """
    if config.release is None or not needs_sandbox_platform(config.release.version):
        return
    for handler in config.runhcs_handlers:
        own = config.release.default_handlers.get(handler.name)
        if not (handler.options or (own and own.options)):
            continue
        if not any(value for key, value in handler.options.items() if config.release.reads(key, OPTION)):
            message = f"the shim of containerd {config.release.version} refuses every pod of handler {handler.name}"
            hint = f"it has options and no {OPTION}"
            fix = f"write {OPTION} = 'windows/amd64' under its options"
            yield config.error(RULE, (*handler.path, "options"), message, hint=hint, fix=fix, at_key=True)
