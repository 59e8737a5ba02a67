"""A config.toml whose config version is too new for a containerd that a node goes back to, rewritten in an older one.

containerd itself only ever migrates forwards, and one that is too old for a file does not start with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lockstep.catalog.containerd import Series, known_series, layout, layouts, option_types, series
from lockstep.catalog.containerd_files import GoingBack, going_back, snapshotters, snapshotters_of
from lockstep.containerd.draft import Draft, same, shown
from lockstep.containerd.errors import ContainerdConfigError
from lockstep.containerd.scan import Path

_NEWER_NAMES = 3
"""The first config version in which the CRI plugin is two plugins."""
_RUNHCS = "io.containerd.runhcs.v1"
_SANDBOXER = "podsandbox"
_SHOWN = 12


def is_too_new(existing: bytes | None, version: str) -> bool:
    """Return whether a file is of a config version that can be rewritten, and this release reads only older ones.

    Raises ContainerdConfigError where the file cannot be read.
    """
    found = Draft(existing or b"").data.get("version", 1)
    return type(found) is int and found in layouts() and found > series(version).max_config_version


def rewritten(existing: bytes, version: str) -> bytes:
    """Return a file that is too new for this release in the newest config version that the release reads.

    Settings are carried over to where that version has them; what says nothing (false, 0, empty) is left out, and so
    are comments where the version has other sections. Raises ContainerdConfigError where something cannot be carried
    over, with all of it, because the older containerd would pass over it without a word.
    """
    facts = series(version)
    data = Draft(existing).data
    problems: list[str] = []
    found: int = data["version"]
    while found > facts.max_config_version:
        data, lost = _one_back(data, found, facts)
        problems += lost
        found -= 1
    if problems:
        more = f" and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise ContainerdConfigError(
            f"the file is of version {Draft(existing).data['version']}, containerd {facts.version} reads "
            f"{facts.max_config_version} at most, and what it says of these cannot be carried over: "
            f"{', '.join(problems[:_SHOWN])}{more}: take them out of the file if they are not needed, or move the file "
            "away, so that a new one is written; then run again"
        )
    draft = Draft(b"")
    for path, value in _sections({**data, "version": found}):
        draft.put(path, value)
    return draft.to_bytes(byte_order_mark=False)


def _one_back(data: Mapping[str, Any], found: int, facts: Series) -> tuple[dict[str, Any], list[str]]:
    """Return the data of a file of one config version in the version before, and what cannot be carried over."""
    rules = going_back(found)
    old: dict[str, Any] = {}
    lost: list[str] = []
    handlers = layout(found).handlers
    platforms = layout(found).handler_platforms
    for path, value in _leaves(data, rules, found):
        if path == ("version",):
            continue
        if found == _NEWER_NAMES and path[: len(handlers)] == handlers:
            if len(path) == len(handlers) + 1:
                lost += _handler(old, path, value, facts)
        elif found == _NEWER_NAMES and platforms and path[: len(platforms)] == platforms:
            lost += _platform(data, path, value, handlers)
        elif (new := _new_place(path, rules)) is not None and not _is_later_snapshotter(path, value, facts):
            _put(old, new, value)
        elif path[-2:] == ("cni", "bin_dirs") and isinstance(value, list) and len(value) == 1:
            _put(old, (*layout(found - 1).cni, "bin_dir"), value[0])
        elif not _says_nothing(value):
            lost.append(shown(path))
    return old, lost


def _leaves(data: Mapping[str, Any], rules: GoingBack, found: int, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield keys with their values; a table as a whole where it goes as a whole."""
    where = layout(found)
    whole = (where.handlers, *([where.handler_platforms] if where.handler_platforms else []))
    for name, value in data.items():
        here = (*path, name)
        goes = _new_place(here, rules) is not None or (found == _NEWER_NAMES and here[:-1] in whole)
        if isinstance(value, Mapping) and value and not goes:
            yield from _leaves(value, rules, found, here)
        else:
            yield here, value


def _new_place(path: Path, rules: GoingBack) -> Path | None:
    """Return where a key or table goes; None where it goes nowhere, or only parts of it do."""
    if path in rules.moves:
        return rules.moves[path]
    if rules.root is None or rules.tables is None or rules.plugins is None:
        moved = {start[:length] for start in rules.moves for length in range(1, len(start))}
        return None if any(path[:length] in moved for length in (2, len(path))) else path
    if path[0] in (rules.root if len(path) == 1 else rules.tables):
        return path
    if len(path) == 1 and path[0] in rules.tables:
        return path
    return path if path[0] == "plugins" and len(path) > 1 and path[1] in rules.plugins else None


def _handler(old: dict[str, Any], path: Path, table: Any, facts: Series) -> list[str]:
    """Put one handler into the older file; return what of it cannot be carried over."""
    if not isinstance(table, Mapping):
        return [shown(path)]
    kept: dict[str, Any] = {}
    lost = [] if table.get("runtime_type") else [f"{shown(path)}, which states no runtime_type"]
    for name, value in table.items():
        known = next((key for key in facts.handler_keys if key.lower() == name.lower()), None)
        if name == "options" and isinstance(value, Mapping):
            kept[name], dropped = _options(value, table.get("runtime_type"), facts)
            lost += [shown((*path, name, each)) for each in dropped]
        elif known is not None and not _is_later_snapshotter((known,), value, facts):
            kept[known] = value
        elif not _says_nothing(value) and (name, value) != ("sandboxer", _SANDBOXER):
            lost.append(shown((*path, name)))
    _put(old, (*layout(_NEWER_NAMES - 1).handlers, path[-1]), kept)
    return lost


def _options(options: Mapping[str, Any], runtime_type: Any, facts: Series) -> tuple[dict[str, Any], list[str]]:
    """Return the options in the spelling that the older release reads, and those that its shim does not have."""
    if runtime_type != _RUNHCS:
        return dict(options), []
    spelling = {name.lower(): name for name in option_types(facts.version)}
    newest = {name.lower() for name in option_types(f"{known_series()[-1]}.0")}
    kept = {spelling.get(name.lower(), name): value for name, value in options.items() if name.lower() in spelling}
    # What no shim knows never did anything.
    gone = [name for name in options if name.lower() in newest - spelling.keys() and name.lower() != "scrublogs"]
    return kept, [name for name in gone if not _says_nothing(options[name])]


def _platform(data: Mapping[str, Any], path: Path, value: Any, handlers: Path) -> list[str]:
    """Return the snapshotter for one handler's images, unless its own table names the same one."""
    snapshotter = value.get("snapshotter") if isinstance(value, Mapping) else value
    table: Any = data
    for name in (*handlers, path[-1]):
        table = table.get(name) if isinstance(table, Mapping) else None
    own = table.get("snapshotter") if isinstance(table, Mapping) else None
    return [] if _says_nothing(snapshotter) or same(snapshotter, own) else [shown((*path, "snapshotter"))]


def _is_later_snapshotter(path: Path, value: Any, facts: Series) -> bool:
    """Return whether this names a snapshotter that came later: the older CRI plugin does not load with it."""
    later = snapshotters() - snapshotters_of(facts.version)
    return path[-1] == "snapshotter" and isinstance(value, str) and value in later


def _says_nothing(value: Any) -> bool:
    return not value


def _put(data: dict[str, Any], path: Path, value: Any) -> None:
    for name in path[:-1]:
        data = data.setdefault(name, {})
    data[path[-1]] = value


def _sections(data: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield what to put into an empty file: the version and the other keys at the root, then each table's own keys."""
    own = {name: value for name, value in data.items() if not isinstance(value, Mapping)}
    if not path:
        yield ("version",), data["version"]
        yield from (((name,), value) for name, value in own.items() if name != "version")
    elif own:
        yield path, own
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from _sections(value, (*path, name))
