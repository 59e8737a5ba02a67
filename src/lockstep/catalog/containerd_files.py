"""What containerd makes of a config.toml as a file: sections of another version, keys that are gone, known names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from lockstep.catalog.data import load
from lockstep.catalog.versions import Version

Sections = Literal["short", "old", "new"]
Effect = Literal["read", "ignored", "stops"]
EFFECTS: Mapping[str, Effect] = {"read": "read", "ignored": "ignored", "stops": "stops"}


@dataclass(frozen=True, slots=True)
class GoingBack:
    """What becomes of a file of one config version in the version before it.

    `moves` has each key's new path by its path. `root` are keys, `tables` tables at the root, and `plugins` plugins
    that stay as they are; where these are None, all stays that lies below no plugin of `moves`.
    """

    moves: Mapping[tuple[str, ...], tuple[str, ...]]
    root: frozenset[str] | None
    tables: frozenset[str] | None
    plugins: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Removed:
    """A key that is gone: its path below the CRI plugin, the first release without it, and what does its work.

    `moved` says that a section with the name of config version 2 may still have it: it becomes `instead` there.
    """

    path: tuple[str, ...]
    since: Version
    instead: str
    moved: bool


def effect(sections: Sections, config_version: int, containerd: str) -> Effect:
    """Return what this containerd makes of CRI sections with such names in a file of this config version.

    A file without version counts as version 1. Raises VersionError where `containerd` is no full version.
    """
    known = _facts()["sections"][sections]
    ranges = known["none"] if config_version < min(number for number in known if number != "none") else None
    steps = ranges or known[min(config_version, max(number for number in known if number != "none"))]
    at = Version.parse(containerd).release
    found = [step["effect"] for step in steps if Version.parse(step["from"]).release <= at]
    return EFFECTS[found[-1]] if found else "ignored"


@cache
def streaming_keys() -> frozenset[str]:
    """Return the keys that stay in the old CRI section in every config version."""
    return frozenset(_facts()["streaming"])


@cache
def removed_keys() -> tuple[Removed, ...]:
    """Return the keys that some release took away."""
    entries = _facts()["removed"]
    return tuple(
        Removed(tuple(item["path"]), Version.parse(item["from"]), item["instead"], item.get("moved", False))
        for item in entries
    )


@cache
def snapshotters() -> frozenset[str]:
    """Return the snapshotters that some containerd has on Windows."""
    return frozenset(_facts()["snapshotters"])


def snapshotters_of(containerd: str) -> frozenset[str]:
    """Return the snapshotters that this containerd release has on Windows."""
    series = Version.parse(containerd).release[:2]
    known: Mapping[str, Mapping[str, Any]] = _facts()["snapshotters"]
    return frozenset(name for name, facts in known.items() if _series(facts["since"]) <= series)


def works_with_hyperv(snapshotter: str) -> bool:
    """Return whether pods with Hyper-V isolation can use this snapshotter; True of one that is not known."""
    return bool(_facts()["snapshotters"].get(snapshotter, {}).get("hyperv", True))


def needs_sandbox_platform(containerd: str) -> bool:
    """Return whether this containerd's shim refuses pods of handlers that have options and no SandboxPlatform."""
    span = _facts()["needs_sandbox_platform"]
    at = Version.parse(containerd).release
    return Version.parse(span["from"]).release <= at < Version.parse(span["until"]).release


def drop_ins(containerd: str) -> str:
    """Return what becomes of drop-ins of another config version: `read`, `mixed` or `newer-stops`."""
    at = Version.parse(containerd).release
    return str([step["effect"] for step in _facts()["drop_ins"] if Version.parse(step["from"]).release <= at][-1])


@cache
def going_back(config_version: int) -> GoingBack:
    """Return what becomes of a file of this config version (3, 4) in the one before. Raises KeyError for another."""
    facts = load("containerd-going-back")[config_version]
    moves = {
        (*move["from"], name): (*move["to"], new)
        for move in facts["moves"]
        for name, new in {**{key: key for key in move.get("keys", ())}, **move.get("renamed", {})}.items()
    }
    root, tables, stay = (frozenset(facts[name]) if name in facts else None for name in ("root", "tables", "plugins"))
    return GoingBack(moves, root, tables, stay)


@cache
def renamed_keys() -> Mapping[str, str]:
    """Return where keys of config version 2 went that have another name from version 3 on."""
    renamed: Mapping[str, str] = _facts()["renamed"]
    return renamed


@cache
def root_keys() -> frozenset[str]:
    """Return the keys that any release reads at the root of the file."""
    return frozenset(_facts()["root"])


@cache
def table_keys() -> Mapping[tuple[str, ...], frozenset[str]]:
    """Return the keys that any release reads in the CRI plugins' tables, by the table's path below `plugins`."""
    return {
        (plugin, table) if table else (plugin,): frozenset(keys)
        for plugin, tables in _facts()["tables"].items()
        for table, keys in tables.items()
    }


@cache
def plugins() -> frozenset[str]:
    """Return the names of plugins that containerd itself has on some system."""
    return frozenset(_facts()["plugins"])


def _series(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def _facts() -> Mapping[str, Any]:
    facts: Mapping[str, Any] = load("containerd")["files"]
    return facts
