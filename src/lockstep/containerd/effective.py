"""What a containerd has in effect, `containerd config dump`, compared with what is planned for it.

A file that config.toml imports can say otherwise of a key than config.toml does, and then counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.catalog.containerd import Layout, Series, layouts, series
from lockstep.containerd.draft import Draft, same
from lockstep.containerd.merge import registry_path
from lockstep.containerd.scan import Path
from lockstep.containerd.settings import Settings

_NOTHING = object()


@dataclass(frozen=True, slots=True)
class Overridden:
    """A planned key that has another value in effect; `found` is None where it has none."""

    what: str
    key: str
    path: Path
    planned: Any
    found: Any

    def __str__(self) -> str:
        return f"{self.what}: {self.key} is {_text(self.found)}, planned is {_text(self.planned)}"


def overridden(dump: bytes, settings: Settings, version: str) -> tuple[Overridden, ...]:
    """Return the planned keys that are not in effect, by what this release's `config dump` printed.

    Raises ContainerdConfigError where that cannot be read.
    """
    draft = Draft(dump)
    where = layouts().get(draft.data.get("version", 1))
    if where is None:
        return ()
    facts = series(version)
    return tuple(
        Overridden(what, path[-1], path, planned, None if found is _NOTHING else found)
        for what, path, planned in _planned(where, settings)
        if not _same(found := _found(draft.data, path, facts), planned)
    )


def names(text: bytes, path: Path, version: str) -> bool:
    """Return whether a file, such as an imported one, says something of the key at `path` of the newest layout.

    Files of an older config version have the key elsewhere: its last part is looked for anywhere in them.
    """
    try:
        data = Draft(text).data
    except ValueError:
        return False
    facts = series(version)
    if _found(data, path, facts) is not _NOTHING:
        return True
    handler = [path[-2], path[-1]] if path[-2] != "options" else [path[-3], path[-1]]
    return all(any(facts.reads(key, part) for key in _every_key(data)) for part in handler)


def _planned(where: Layout, settings: Settings) -> Iterator[tuple[str, Path, Any]]:
    """Yield each planned key: what it belongs to, its place in a file, its value."""
    if settings.default_handler is not None:
        yield "default handler", where.default_handler, settings.default_handler
    if settings.pause_image is not None:
        yield "pause image", where.pause_image, settings.pause_image
    if settings.registry_path is not None:
        yield "registries", registry_path(where), settings.registry_path
    if settings.log_level is not None:
        yield "log", where.log_level, settings.log_level
    if settings.metrics_address is not None:
        yield "metrics", where.metrics_address, settings.metrics_address
    for handler in settings.handlers:
        what, table = f"handler {handler.name}", (*where.handlers, handler.name)
        yield what, (*table, "runtime_type"), handler.runtime_type
        yield what, (*table, "pod_annotations"), list(handler.pod_annotations)
        yield what, (*table, "container_annotations"), list(handler.container_annotations)
        for name, value in handler.options.items():
            yield what, (*table, "options", name), value
        if handler.name in settings.snapshotters:
            yield what, (*table, "snapshotter"), settings.snapshotters[handler.name]


def _found(data: Mapping[str, Any], path: Path, facts: Series) -> Any:
    """Return the value at a path, whose last part may be in another spelling that the release reads."""
    table: Any = data
    for name in path[:-1]:
        table = table.get(name) if isinstance(table, Mapping) else None
    if not isinstance(table, Mapping):
        return _NOTHING
    if path[-1] in table:
        return table[path[-1]]
    return next((value for name, value in table.items() if facts.reads(name, path[-1])), _NOTHING)


def _same(found: Any, planned: Any) -> bool:
    """Return whether a value is the planned one; a list or text that is empty may be left out."""
    if planned in ([], ""):
        return found in (_NOTHING, None, [], "")
    return found is not _NOTHING and same(found, planned)


def _every_key(data: Any) -> Iterator[str]:
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield name
            yield from _every_key(value)


def _text(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(_text(item) for item in value)}]"
    return f"'{value}'" if isinstance(value, str) else str(value)
