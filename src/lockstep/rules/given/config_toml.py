"""A config.toml as its rules see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from lockstep.catalog.containerd import (
    KeyFacts,
    Layout,
    Series,
    UnknownSeries,
    known_series,
    layouts,
    option_types,
    series,
)
from lockstep.catalog.versions import VersionError
from lockstep.containerd.scan import Block, Entry, Path, scan
from lockstep.finding import DataPath, Place
from lockstep.rules.given.context import Context
from lockstep.rules.given.subject import Subject
from lockstep.rules.given.text_places import TextPlaces

CRI = "io.containerd.grpc.v1.cri"
CRI_RUNTIME = "io.containerd.cri.v1.runtime"
CRI_IMAGES = "io.containerd.cri.v1.images"
CRI_SHORT = "cri"
RUNHCS = "io.containerd.runhcs.v1"
UNNAMED_VERSION = 1
"""What a file without `version` is read as. Source: containerd cmd/containerd/server/config/config.go."""


@dataclass(frozen=True, slots=True)
class Handler:
    """One handler's table: its name, where it is, what it says."""

    name: str
    path: Path
    table: Mapping[str, Any]

    @property
    def options(self) -> Mapping[str, Any]:
        """The shim's options, empty where there are none."""
        found = self.table.get("options")
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, eq=False)
class ConfigToml(Subject):
    """A config.toml that is TOML: its data, and where each key and value is written.

    `text` is without byte order mark, which `bom` tells of.
    """

    file: str
    text: str
    data: Mapping[str, Any]
    context: Context
    bom: bool = False

    @cached_property
    def release(self) -> Series | None:
        """What is true of the containerd that reads the file, or None where that was not said."""
        try:
            return series(self.context.containerd) if self.context.containerd else None
        except (UnknownSeries, VersionError):
            return None

    @cached_property
    def candidates(self) -> tuple[Series, ...]:
        """The release, or else the first of every series that could read the file."""
        if self.release:
            return (self.release,)
        every = tuple(series(f"{name}.0") for name in known_series())
        return tuple(found for found in every if found.max_config_version >= self.version) or every

    @cached_property
    def version(self) -> int:
        """The config version that the file says, or is read as; 0 where it says something that is no number."""
        found = self.data.get("version", UNNAMED_VERSION)
        return found if type(found) is int else 0

    @cached_property
    def layout(self) -> Layout:
        """Where things are in this file: as its version has it, for one without by the names that its plugins have."""
        known = layouts()
        if self.version in known:
            return known[self.version]
        if self.version > max(known):
            return known[max(known)]
        plugins = self.table(("plugins",))
        if CRI_RUNTIME in plugins or CRI_IMAGES in plugins:
            return known[3]
        return known[2] if CRI in plugins else _short(known[2])

    def table(self, path: Path) -> Mapping[str, Any]:
        """Return the table at a path, empty where there is none."""
        found: Any = self.data
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def get(self, path: Path) -> Any:
        """Return the value at a path, or None."""
        return self.table(path[:-1]).get(path[-1])

    @cached_property
    def handlers(self) -> tuple[Handler, ...]:
        """The handlers that the file has tables for, in its order."""
        where = self.layout.handlers
        return tuple(
            Handler(name, (*where, name), table)
            for name, table in self.table(where).items()
            if isinstance(table, Mapping)
        )

    @property
    def runhcs_handlers(self) -> Iterator[Handler]:
        """The handlers whose pods the Windows shim runs: those that say so, and containerd's own."""
        for handler in self.handlers:
            own = any(handler.name in found.default_handlers and found.merges_handlers for found in self.candidates)
            if handler.table.get("runtime_type", RUNHCS if own else None) == RUNHCS:
                yield handler

    @cached_property
    def handler_keys(self) -> Mapping[str, KeyFacts]:
        """The keys that a handler has in any of the candidates."""
        return {name: facts for found in self.candidates for name, facts in found.handler_keys.items()}

    @cached_property
    def options(self) -> Mapping[str, KeyFacts]:
        """The shim's options in any of the candidates."""
        return {name: facts for found in self.candidates for name, facts in option_types(found.version).items()}

    def spelt(self, key: str, known: Mapping[str, KeyFacts]) -> str | None:
        """Return the known key that a spelling is read as, or None."""
        if key in known:
            return key
        return next((name for name in known if any(found.reads(key, name) for found in self.candidates)), None)

    def value(self, path: DataPath) -> Place:
        """Return where a value is written, else what holds it."""
        entry = self._entries.get(path)
        if entry is None:
            return self.key(path)
        raw = self.text[entry.start : entry.end]
        return self._places.at(entry.start, len(raw.partition("\n")[0].rstrip()))

    def key(self, path: DataPath) -> Place:
        """Return where a value's key is written, else what holds it, else the file's start."""
        for length in range(len(path), 0, -1):
            if found := self._keys.get(path[:length]):
                return self._places.at(*found)
        return self._places.at(0)

    def at(self, index: int, length: int) -> Place:
        """Return the place of so many characters from an index in the text on."""
        return self._places.at(index, length)

    def entries(self) -> Iterator[Entry]:
        """Yield every entry, those of inline tables too, in the file's order."""
        for block in self._blocks:
            yield from _flat(block.entries)

    @cached_property
    def _places(self) -> TextPlaces:
        return TextPlaces(self.file, self.text)

    @cached_property
    def _blocks(self) -> tuple[Block, ...]:
        return scan(self.text)

    @cached_property
    def _entries(self) -> Mapping[DataPath, Entry]:
        return {entry.path: entry for entry in self.entries()}

    @cached_property
    def _keys(self) -> Mapping[DataPath, tuple[int, int]]:
        """Where each key of a path is first written: index and length; tables are found in headers too."""
        found: dict[DataPath, tuple[int, int]] = {}
        for block in self._blocks:
            if block.path is not None:
                for depth, part in enumerate(block.key, 1):
                    found.setdefault(tuple(name.name for name in block.key[:depth]), (part.start, len(part.raw)))
            for entry in _flat(block.entries):
                above = entry.path[: len(entry.path) - len(entry.key)]
                for depth, part in enumerate(entry.key, 1):
                    path = (*above, *(name.name for name in entry.key[:depth]))
                    found.setdefault(path, (part.start, len(part.raw)))
        # A table's own header says more than the header of a table within.
        for block in self._blocks:
            if block.path and block.key:
                last = block.key[-1]
                found[block.path] = (last.start, len(last.raw))
        return found


def _flat(entries: tuple[Entry, ...]) -> Iterator[Entry]:
    for entry in entries:
        yield entry
        yield from _flat(entry.inline or ())


def _short(layout: Layout) -> Layout:
    """Return where things are under the short name that version 1 gives the CRI plugin."""

    def short(path: Path) -> Path:
        return tuple(CRI_SHORT if name == CRI else name for name in path)

    return replace(
        layout,
        config_version=UNNAMED_VERSION,
        handlers=short(layout.handlers),
        default_handler=short(layout.default_handler),
        pause_image=short(layout.pause_image),
        snapshotter=short(layout.snapshotter),
        cni=short(layout.cni),
        registry=short(layout.registry),
    )
