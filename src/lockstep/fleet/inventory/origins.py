"""Where the values that Ansible evaluated are written: Ansible tags values with their file, line and column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import yaml

from lockstep.finding import Finding, Place
from lockstep.fleet.shape.spec import VARIABLE
from lockstep.fleet.text.construct import REPEATED_KEY
from lockstep.fleet.text.document import Document
from lockstep.fleet.text.locate import NodeLocator, Path

Documents = Callable[[str], Document | None]


def plain(value: Any) -> Any:
    """Return a value without Ansible's tags; dates stay dates. Raises TypeError for what YAML has no form for."""
    match value:
        case None | bool() | date():
            return value
        case str():
            return str.__str__(value)
        case int():
            return int.__int__(value)
        case float():
            return float.__float__(value)
        case Mapping():
            return {plain(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set():
            return [plain(item) for item in value]
        case _:
            raise TypeError(f"a value of type {type(value).__name__}")


class Origins:
    """Locates evaluated values: by their own tags, and below the last tag by the text that stands there."""

    def __init__(self, evaluated: Any, written: Any, documents: Documents, shown: Callable[[str], str]) -> None:
        self._evaluated = evaluated
        self._written = written
        self._documents = documents
        self._shown = shown
        self._starts: dict[str, dict[tuple[int, int], Path]] = {}

    def value(self, path: Path) -> Place | None:
        """Return where a value is written: a scalar's own text, for a list or mapping its key, else what holds it."""
        locator, below, place = self._nearest(path)
        return locator.value(below) if locator else place

    def key(self, path: Path) -> Place | None:
        """Return where a value's key is written, else what holds it."""
        if not path:
            locator, below, place = self._nearest((), self._written)
            return locator.key(below) if locator else place
        locator, below, place = self._nearest(path[:-1])
        return locator.key((*below, path[-1])) if locator else place

    def raw(self, path: Path) -> str | None:
        """Return an unquoted scalar's text as written, None for everything else and for what a template made."""
        locator, below, _ = self._nearest(path)
        raw = locator.raw(below) if locator else None
        return None if raw and ("{{" in raw or "{%" in raw) else raw

    def raw_key(self, path: Path) -> str | None:
        """Return an unquoted key's text as written, None for everything else."""
        locator, below, _ = self._nearest(path[:-1]) if path else (None, (), None)
        return locator.raw_key((*below, path[-1])) if locator else None

    def findings(self) -> tuple[Finding, ...]:
        """Return what is wrong with the text of the description that Ansible lets pass: keys that are there twice."""
        found = self._found(self._written) or self._home()
        if not found:
            return ()
        document, root = found
        return tuple(
            replace(finding, path=finding.path[len(root) :])
            for finding in document.findings
            if finding.rule == REPEATED_KEY and finding.path[: len(root)] == root
        )

    def documents(self) -> tuple[Document, ...]:
        """Return the documents that the description stands in, for showing lines of them."""
        found = [self._home(), *map(self._found, (self._written, *_containers(self._evaluated)))]
        return tuple({document.file: document for document, _ in filter(None, found)}.values())

    def failing(self, error: BaseException) -> Place | None:
        """Return the place that an Ansible error names, else where the description starts."""
        cause: BaseException | None = error
        while cause is not None:
            named = getattr(cause, "obj", None)
            origin = named if getattr(named, "line_num", None) else _origin(named)
            if origin and origin.path and origin.line_num:
                found = self._at(origin)
                place = NodeLocator(*found).value(()) if found else None
                return place or Place(self._shown(origin.path), origin.line_num, origin.col_num or 1)
            cause = cause.__cause__ or cause.__context__
        return self.key(())

    def _nearest(self, path: Path, top: Any = None) -> tuple[NodeLocator | None, Path, Place | None]:
        """Return a locator at the deepest value on a path that has a tag, the rest of the path, and its place."""
        value = self._evaluated if top is None else top
        best: tuple[Any, Path] | None = None
        for index in range(len(path) + 1):
            origin = _origin(value)
            if origin and origin.line_num:
                best = (value, path[index:])
            if index < len(path):
                try:
                    value = value[path[index]]
                except (LookupError, TypeError):
                    break
        if best is None:
            best = (self._written, path)
        found = self._found(best[0]) or (self._home() if best[0] is self._written else None)
        if found:
            return NodeLocator(found[0], found[1]), best[1], None
        origin = _origin(best[0])
        if origin is None or not origin.path:
            return None, (), None
        return None, (), Place(self._shown(origin.path), origin.line_num or 1, origin.col_num or 1)

    def _home(self) -> tuple[Document, Path] | None:
        """Return where the description stands in a file that Ansible read as JSON, without lines."""
        origin = _origin(self._written)
        document = self._documents(origin.path) if origin and origin.path and not origin.line_num else None
        if document is None or document.root is None:
            return None
        paths = [path for _, path in _starts(document, document.root, (), set()) if path[-1:] == (VARIABLE,)]
        return (document, paths[0]) if len(paths) == 1 else None

    def _found(self, value: Any) -> tuple[Document, Path] | None:
        """Return the document and the path in it that a value's tag names."""
        return self._at(_origin(value))

    def _at(self, origin: Any) -> tuple[Document, Path] | None:
        document = self._documents(origin.path) if origin and origin.path else None
        if document is None or document.root is None or not origin.line_num:
            return None
        if origin.path not in self._starts:
            starts: dict[tuple[int, int], Path] = {}
            for start, path in _starts(document, document.root, (), set()):
                starts.setdefault(start, path)
            self._starts[origin.path] = starts
        found = self._starts[origin.path].get((origin.line_num, origin.col_num))
        return None if found is None else (document, found)


def _origin(value: Any) -> Any:
    """Return a value's tag with `path`, `line_num` and `col_num`, or None."""
    try:
        from ansible._internal._datatag._tags import Origin  # noqa: PLC0415 - nothing public gives the place
    except ImportError:  # an ansible-core that keeps it elsewhere: findings are right all the same, without a place
        return None
    try:
        return Origin.get_tag(value)
    except (AttributeError, TypeError):
        return None


def _starts(document: Document, node: yaml.Node, path: Path, seen: set[int]) -> Iterator[tuple[tuple[int, int], Path]]:
    if id(node) in seen:
        return
    seen.add(id(node))
    yield (node.start_mark.line + 1, node.start_mark.column + 1), path
    if isinstance(node, yaml.MappingNode):
        for key, (_, below) in document.entries.get(id(node), {}).items():
            yield from _starts(document, below, (*path, key), seen)
    elif isinstance(node, yaml.SequenceNode):
        for index, below in enumerate(node.value):
            yield from _starts(document, below, (*path, index), seen)


def _containers(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield value
        for item in value.values():
            yield from _containers(item)
    elif isinstance(value, list | tuple):
        yield value
        for item in value:
            yield from _containers(item)
