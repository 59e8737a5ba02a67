"""A config version that containerd does not read."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.containerd import layouts
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW405"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding where `version` is no number, or is newer than what the release reads.

    Source: containerd cmd/containerd/server/config/config.go (`expected containerd config version`).
    """
    if "version" not in config.data:
        return
    found = config.data["version"]
    newest = config.release.max_config_version if config.release else max(layouts())
    reader = f"containerd {config.release.version}" if config.release else "containerd"
    wanted = config.release.config_version_for_new_file if config.release else newest
    if type(found) is not int:
        message = f"version is no whole number: {reader} does not start"
        yield config.error(RULE, ("version",), message, fix=f"write version = {wanted}")
    elif found > newest:
        message = f"{reader} reads config version {newest} at most, and does not start with {found}"
        yield config.error(RULE, ("version",), message, fix=f"write the file in version {wanted}")
    elif found < 0:
        message = f"there is no config version {found}"
        yield config.error(RULE, ("version",), message, fix=f"write version = {wanted}")
