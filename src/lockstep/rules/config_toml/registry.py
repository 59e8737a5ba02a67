"""Registries told in two ways at once."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW424"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding where mirrors, or TLS settings, stand beside config_path: the CRI plugin does not load.

    Source: containerd internal/cri/config/config.go, ValidateImageConfig.
    """
    registry = config.layout.registry
    table = config.table(registry)
    if not table.get("config_path"):
        return
    configs = table.get("configs")
    tls = isinstance(configs, dict) and any(isinstance(item, dict) and "tls" in item for item in configs.values())
    for key in [key for key in ("mirrors", *(["configs"] if tls else [])) if table.get(key)]:
        what = "mirrors" if key == "mirrors" else "configs with tls"
        message = f"registry.{what} cannot stand beside config_path: the CRI plugin does not load"
        fix = "move them into hosts.toml files below config_path"
        yield config.error(RULE, (*registry, key), message, fix=fix, at_key=True)
