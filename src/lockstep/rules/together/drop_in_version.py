"""A drop-in whose config version is not its root's."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import PurePath, PureWindowsPath

from lockstep.catalog.containerd_files import drop_ins
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml
from lockstep.rules.given.together import Together

RULE = "LW610"


def find(given: Together) -> Iterator[Finding]:
    """Yield each file that another one imports and that is of a config version that does not go with it.

    The facts are in the catalogue's containerd.yaml.
    """
    for root in given.configs:
        for config in given.configs:
            if config is not root and _imports(root, config) and (does := _effect(root, config)):
                message = f"{root.file} imports this file of version {config.version}, and is of {root.version}: {does}"
                fix = f"write version = {root.version}, and its sections likewise"
                yield config.error(RULE, ("version",), message, fix=fix)


def _effect(root: ConfigToml, config: ConfigToml) -> str | None:
    """Return what goes wrong with two files of these versions, or None; the worst of what could."""
    effects = {drop_ins(found.version) for found in root.candidates}
    if "newer-stops" in effects and config.version > root.version:
        return "containerd does not start" if root.release else "containerd 2.3.0 to 2.3.4 does not start"
    if "mixed" in effects and config.version != root.version:
        return "containerd 2.0 to 2.2 takes both for the version that it reads last"
    return None


def _imports(root: ConfigToml, config: ConfigToml) -> bool:
    patterns = root.data.get("imports")
    folder, name = PurePath(config.file).parent.name, PurePath(config.file).name
    for pattern in patterns if isinstance(patterns, list) else ():
        if isinstance(pattern, str):
            path = PureWindowsPath(pattern)
            if fnmatch(name, path.name) and path.parent.name in ("", folder):
                return True
    return False
