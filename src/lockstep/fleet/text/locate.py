"""From a path in the data to the place where it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import yaml

from lockstep.finding import Place, lines
from lockstep.fleet.text.document import Document, span

if TYPE_CHECKING:
    from collections.abc import Sequence

Path = tuple[Any, ...]


class Locator(Protocol):
    """Says where the values of one description are written; None where that is not known."""

    def value(self, path: Path) -> Place | None:
        """Return where a value is written: a scalar's own text, for a list or mapping its key, else what holds it."""

    def key(self, path: Path) -> Place | None:
        """Return where a value's key is written, else what holds it."""

    def raw(self, path: Path) -> str | None:
        """Return an unquoted scalar's text as written, None for everything else."""

    def raw_key(self, path: Path) -> str | None:
        """Return an unquoted key's text as written, None for everything else."""


class Nowhere:
    """The locator of data that has no text."""

    def value(self, path: Path) -> Place | None:  # noqa: ARG002 - the protocol's
        """Return None."""
        return None

    key = value

    def raw(self, path: Path) -> str | None:  # noqa: ARG002 - the protocol's
        """Return None."""
        return None

    raw_key = raw


class NodeLocator:
    """Locates the values below one path of a document."""

    def __init__(self, document: Document, root: Sequence[Any] = ()) -> None:
        self._document = document
        self._root = tuple(root)

    @property
    def file(self) -> str:
        """The file that it locates in."""
        return self._document.file

    def value(self, path: Path) -> Place | None:
        """Return where a value is written: a scalar's own text, for a list or mapping its key, else what holds it."""
        key, node, found = self._find(path)
        if node is None:
            return None
        empty = node.start_mark.index == node.end_mark.index
        if found and isinstance(node, yaml.ScalarNode) and not (empty and key):
            return self._span(node)
        return self._span(key or node)

    def key(self, path: Path) -> Place | None:
        """Return where a value's key is written, else what holds it."""
        key, node, _ = self._find(path)
        chosen = key or node
        return self._span(chosen) if chosen else None

    def raw(self, path: Path) -> str | None:
        """Return an unquoted scalar's text as written, None for everything else."""
        _, node, found = self._find(path)
        if found and isinstance(node, yaml.ScalarNode) and not node.style:
            return str(node.value)
        return None

    def raw_key(self, path: Path) -> str | None:
        """Return an unquoted key's text as written, None for everything else."""
        key, _, found = self._find(path)
        return str(key.value) if found and isinstance(key, yaml.ScalarNode) and not key.style else None

    def _span(self, node: yaml.Node) -> Place:
        if (
            node.start_mark.line == node.end_mark.line
            or not isinstance(node, yaml.ScalarNode)
            or node.style in ("|", ">")
        ):
            return span(self._document.file, node)
        line = lines(self._document.text)[node.start_mark.line].rstrip()
        length = max(len(line) - node.start_mark.column, 1)
        return Place(self._document.file, node.start_mark.line + 1, node.start_mark.column + 1, length)

    def _find(self, path: Path) -> tuple[yaml.Node | None, yaml.Node | None, bool]:
        """Return the nodes of the deepest key and value on a path that are written, and whether that is all of it."""
        key: yaml.Node | None = None
        node = self._document.root
        for part in (*self._root, *path):
            if isinstance(node, yaml.MappingNode):
                entry = self._document.entries.get(id(node), {}).get(part)
                if entry is None:
                    return key, node, False
                key, node = entry
            elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and 0 <= part < len(node.value):
                key, node = None, node.value[part]
            else:
                return key, node, False
        return key, node, node is not None
