"""The CRI plugin among the disabled ones."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import CRI, CRI_IMAGES, CRI_RUNTIME, CRI_SHORT, ConfigToml

RULE = "LW429"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding at a disabled CRI plugin: kubelet finds `unknown service runtime.v1.RuntimeService`.

    The short name is an error of its own from config version 2 on.
    Source: containerd cmd/containerd/server/config/config.go, ValidateVersion.
    """
    disabled = config.data.get("disabled_plugins")
    for name in disabled if isinstance(disabled, list) else ():
        if name not in (CRI_SHORT, CRI, CRI_IMAGES, CRI_RUNTIME):
            continue
        message = "the CRI plugin is disabled, and kubelet cannot work without it"
        if name == CRI_SHORT and config.version > 1:
            message = f"containerd does not start with the plugin name '{name}' in a file of version {config.version}"
        yield config.error(RULE, ("disabled_plugins",), message, fix=f"take '{name}' out")
