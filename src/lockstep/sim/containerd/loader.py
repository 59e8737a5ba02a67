"""Reading config.toml and its imports, as each containerd series does.

Sources: containerd v1.7.29 services/server/config/config.go (LoadConfig, ValidateV2, mergeConfig); containerd
v2.0.5, v2.2.1, v2.3.4 and v2.4.1 cmd/containerd/server/config/config.go (LoadConfig, LoadConfigWithPlugins,
ValidateVersion, mergeConfig).
"""

from __future__ import annotations

import codecs
import ntpath
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lockstep.sim.containerd import migrate
from lockstep.sim.containerd.release import Release

_POSITION = re.compile(r"^(?P<what>.*) \(at line (?P<line>\d+), column (?P<column>\d+)\)$")


class ConfigError(Exception):
    """containerd does not start on this configuration; the text is what it prints after `containerd: `."""


class MissingFileError(ConfigError):
    """A file is not there; `containerd config dump` of 2.x goes on all the same."""


@dataclass(slots=True)
class Loaded:
    """The merged files: `data` as of containerd's own config version, `warnings` the lines it logs while reading."""

    data: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Files:
    """Where configuration comes from: a file's bytes (None where there is none), and the files that match a pattern."""

    read: Callable[[str], bytes | None]
    matching: Callable[[str], list[str]]


def load(release: Release, path: str, files: Files, loaded: Loaded | None = None) -> Loaded:
    """Read a configuration file and everything it imports; raises ConfigError.

    With `loaded` its caller keeps what was read before an error.
    """
    loaded = fresh(release) if loaded is None else loaded
    pending, root_version = [path], None
    while pending:
        current = pending.pop(0)
        if current in loaded.files:
            continue
        part = _parse(release, current, files.read(current))
        if release.major > 1:
            version = _version(part)
            root_version = version if root_version is None else root_version
            if release.refuses_newer_imports and version > root_version:
                raise ConfigError(f"drop-in config version {version} higher than root config version {root_version}")
            part = _migrate_file(release, part, version, loaded)
        _merge(release, loaded.data, part)
        loaded.files.append(current)
        pending += _resolve(current, part.get("imports", []), files)
    _validate(release, loaded, path)
    if release.major == 1:
        loaded.data["imports"] = list(loaded.files)
    if release.major > 1 and loaded.data["version"] < release.config_version:
        # 2.0 to 2.2 merge first, the last file's version counts for all, and the whole is migrated when the
        # server starts.
        loaded.data = migrate.migrate(loaded.data, loaded.data["version"], release.config_version)
    return loaded


def fresh(release: Release) -> Loaded:
    """Return what a containerd has before it reads any file. 1.x takes a file without `version` as version 1."""
    return Loaded({"version": 1 if release.major == 1 else release.config_version})


def _migrate_file(release: Release, part: dict[str, Any], version: int, loaded: Loaded) -> dict[str, Any]:
    """One file as it is merged.

    2.3 and later migrate each file by itself, 2.0 to 2.2 only rename a version 1 file's plugins.
    """
    if release.migrates_each_file:
        if version >= release.config_version:
            return part
        loaded.warnings.append(
            f"Configuration migrated from version {version}, use `containerd config migrate` to avoid migration"
        )
        return migrate.migrate(part, version, release.config_version)
    if version <= 1:
        return migrate.rename_plugins(part, release.config_version)
    return part


def _parse(release: Release, path: str, data: bytes | None) -> dict[str, Any]:
    prefix = f"failed to load TOML: {path}: " if release.major == 1 else ""
    if data is None:
        raise MissingFileError(f"{prefix}open {path}: The system cannot find the file specified.")
    if release.major > 1 and data.startswith(codecs.BOM_UTF8):
        # go-toml v2 refuses a byte order mark, v1 skips it.
        raise ConfigError("failed to unmarshal TOML at row 1 column 1: toml: invalid character at start of key: ï")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ConfigError(f"{prefix or 'failed to unmarshal TOML: '}invalid UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        match = _POSITION.match(str(error))
        line, column = (match["line"], match["column"]) if match else ("1", "1")
        what = match["what"] if match else str(error)
        where = f"({line}, {column}): " if release.major == 1 else ""
        start = prefix or f"failed to unmarshal TOML at row {line} column {column}: toml: "
        raise ConfigError(f"{start}{where}{what}") from None


def _version(part: Mapping[str, Any]) -> int:
    version = part.get("version", 0)
    if not isinstance(version, int) or isinstance(version, bool):
        words = f"cannot decode TOML {toml_type(version)} into struct field config.Config.Version of type int"
        raise ConfigError(f"failed to unmarshal TOML: toml: {words}")
    return version


def _merge(release: Release, into: dict[str, Any], part: Mapping[str, Any]) -> None:
    """Merge one file into what was read before it."""
    plugins = into.setdefault("plugins", {})
    for key, value in part.items():
        if key == "plugins":
            for plugin, section in value.items():
                # 1.x: "Replace entire sections instead of merging map's values."
                known = plugins.get(plugin)
                plugins[plugin] = (
                    deep_merge(known, section) if release.major > 1 and isinstance(known, dict) else section
                )
        elif isinstance(value, list):
            into[key] = [*into.get(key, []), *(item for item in value if item not in into.get(key, []))]
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            into[key] = deep_merge(into[key], value)
        elif value not in ("", 0, False):
            # mergo's WithOverride: an empty value never overrides.
            into[key] = value


def deep_merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Tables merged key by key, everything else (lists too) replaced."""
    merged = dict(base)
    for key, value in over.items():
        known = merged.get(key)
        merged[key] = deep_merge(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return merged


def _resolve(parent: str, imports: list[str], files: Files) -> list[str]:
    found: list[str] = []
    for entry in imports:
        path = ntpath.normpath(entry)
        if not ntpath.isabs(path):
            path = ntpath.normpath(ntpath.join(ntpath.dirname(parent), path))
        found += files.matching(path) if "*" in path else [path]
    return found


def _validate(release: Release, loaded: Loaded, path: str) -> None:
    version = loaded.data["version"]
    if version > release.config_version:
        if release.major == 1:
            loaded.warnings.append(
                f"containerd config version `{version}` is not supported, the max version is `2`, "
                "use `containerd config default` to generate a new config or manually revert to version `2`"
            )
            raise ConfigError(f"failed to load TOML from {path}: unsupported config version `{version}`")
        raise ConfigError(
            f"failed to load TOML from {path}: expected containerd config version equal to or less than "
            f"`{release.config_version}`, got `{version}`"
        )
    if release.major == 1 and version > 1:
        for plugin in loaded.data.get("plugins", {}):
            if not plugin.startswith("io.containerd.") or len(plugin.split(".", 3)) < 4:  # noqa: PLR2004 (io.containerd.x.vx)
                raise ConfigError(
                    f'failed to load TOML from {path}: invalid plugin key URI "{plugin}" expect io.containerd.x.vx'
                )


def toml_type(value: Any) -> str:
    """Return what TOML calls a value's type."""
    names = ((bool, "boolean"), (int, "integer"), (float, "float"), (str, "string"), (list, "array"), (dict, "table"))
    return next((name for kind, name in names if isinstance(value, kind)), "datetime")
