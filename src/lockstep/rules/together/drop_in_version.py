"""A drop-in whose config version is not its root's."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import PurePath, PureWindowsPath

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml
from lockstep.rules.given.together import Together

RULE = "LW610"


def find(given: Together) -> Iterator[Finding]:
    """Yield each file that another one imports and that is of another config version.

    2.0 to 2.2 take the last file's version for all, so that the root's keys are lost; 2.3.0 to 2.3.4 do not start.
    Source: containerd cmd/containerd/server/config/config.go, LoadConfig.
    """
    for root in given.configs:
        for config in given.configs:
            if config is not root and _imports(root, config) and config.version != root.version:
                message = f"{root.file} imports this file of version {config.version}, and is of {root.version}"
                path = ("version",)
                yield config.error(
                    RULE, path, message, fix=f"write version = {root.version}, and its sections likewise"
                )


def _imports(root: ConfigToml, config: ConfigToml) -> bool:
    patterns = root.data.get("imports")
    folder, name = PurePath(config.file).parent.name, PurePath(config.file).name
    for pattern in patterns if isinstance(patterns, list) else ():
        if isinstance(pattern, str):
            path = PureWindowsPath(pattern)
            if fnmatch(name, path.name) and path.parent.name in ("", folder):
                return True
    return False
