"""YAML text as a tree that knows where in the text each node stands, and as plain data.

Editing by these places is what keeps every line that is not edited byte for byte as it was, which no YAML emitter
promises.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from lockstep.kubelet.problem import KubeletConfigError
from lockstep.kubelet.yaml_loader import GoLoader, key_name, string_keys

_UNREADABLE = yaml.reader.Reader.NON_PRINTABLE
_DEEPEST = 64
_LARGEST = 200_000


@dataclass(slots=True)
class Node:
    """A node of the text from `start` up to `end`, anchor and tag included, counted in characters.

    `kind` is scalar, mapping, sequence or alias; `flow` tells {} and [] from indented forms; `column` counts from 0. A
    block collection ends where its last entry does. `size` is the number of nodes in it with aliases followed.
    """

    kind: str
    start: int
    end: int
    line: int
    column: int
    value: str = ""
    anchor: str | None = None
    flow: bool = False
    style: str = ""
    entries: list[tuple[Node, Node]] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    size: int = 1

    def get(self, key: str) -> Node | None:
        """Return the value of an entry that is written in this mapping itself."""
        return next((value for name, value in self.entries if name.kind == "scalar" and name.value == key), None)


def parse(text: str) -> Node | None:
    """Return the tree of the one document in `text`, None where there is nothing but comments.

    Raises KubeletConfigError, with the place, for text that is not YAML, more than one document, a key that is there
    twice, and aliases that contain themselves or expand without end.
    """
    try:
        return _Builder(text).build()
    except yaml.MarkedYAMLError as error:
        raise _syntax(error) from None
    except yaml.YAMLError as error:
        raise _control_character(text, error) from None


def load(text: str) -> Any:
    """Return the plain data that kubelet reads `text` as; mappings, lists, text, numbers, booleans and None.

    Raises KubeletConfigError as `parse` does, and for values that YAML cannot make sense of.
    """
    parse(text)
    try:
        return string_keys(yaml.load(text, Loader=GoLoader))  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        raise _syntax(error) from None
    except (yaml.YAMLError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise KubeletConfigError(
            f"a value that YAML cannot read: {_one_line(str(error))}", "write it as text, in quotes"
        ) from None


class _Builder:
    def __init__(self, text: str) -> None:
        self._events = yaml.parse(text, Loader=GoLoader)
        self._anchors: dict[str, Node | None] = {}
        self._text = text

    def build(self) -> Node | None:
        root: Node | None = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise _at(event, "a second document starts here", "keep one KubeletConfiguration in the file")
                root = self._node(next(self._events), 0)
        return None if root is None or (root.kind == "scalar" and root.start == root.end) else root

    def _node(self, event: Any, depth: int) -> Node:
        start = event.start_mark
        node = Node("scalar", start.index, event.end_mark.index, start.line, start.column)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, node)
        node.anchor = event.anchor
        if event.anchor:
            self._anchors[event.anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            node.value, node.style = event.value, event.style or ""
        else:
            if depth > _DEEPEST:
                raise _at(event, "nested too deep", "KubeletConfiguration has a few levels: check the brackets")
            node.flow = bool(event.flow_style)
            last = (
                self._mapping(node, depth) if isinstance(event, yaml.MappingStartEvent) else self._sequence(node, depth)
            )
            node.end = last.end_mark.index if node.flow else max(node.end, self._content_end(node))
            if node.size > _LARGEST:
                raise _at(event, "aliases that expand to far too much", "write the values out instead")
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: Any, node: Node) -> Node:
        target = self._anchors.get(event.anchor)
        if target is None:
            message = (
                f"'*{event.anchor}' stands for a value that contains it"
                if event.anchor in self._anchors
                else f"no '&{event.anchor}' before '*{event.anchor}'"
            )
            raise _at(event, message, "write the value out instead")
        node.kind, node.value, node.size = "alias", event.anchor, target.size
        return node

    def _mapping(self, node: Node, depth: int) -> Any:
        node.kind = "mapping"
        seen: set[str] = set()
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._node(event, depth + 1)
            if key.kind == "scalar":
                key.value = key.value if key.style else key_name(key.value)
                if key.value in seen:
                    raise _at(event, f"'{key.value}' is there twice", "keep one of the two: kubelet takes the last")
                seen.add(key.value)
            value = self._node(next(self._events), depth + 1)
            if key.value == "<<" and not key.style and (late := sorted(self._merged(value) & seen)):
                fix = f"move '<<' above '{late[0]}'"
                raise KubeletConfigError(f"'<<' overrides '{late[0]}' above it", fix, key.line + 1, key.column + 1)
            node.entries.append((key, value))
            node.size += key.size + value.size
        return event

    def _merged(self, node: Node | None) -> set[str]:
        """Return the keys that a merge key brings in: kubelet's decoder lets them override what stands above it."""
        if node is not None and node.kind == "alias":
            node = self._anchors.get(node.value)
        if node is None:
            return set()
        inner = [*node.items, *(value for key, value in node.entries if key.value == "<<")]
        return {key.value for key, _ in node.entries}.union(*map(self._merged, inner))

    def _sequence(self, node: Node, depth: int) -> Any:
        node.kind = "sequence"
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            item = self._node(event, depth + 1)
            node.items.append(item)
            node.size += item.size
        return event

    @staticmethod
    def _content_end(node: Node) -> int:
        last = node.entries[-1][1] if node.entries else node.items[-1] if node.items else None
        return node.end if last is None else last.end


def _at(event: Any, message: str, fix: str) -> KubeletConfigError:
    mark = event.start_mark
    return KubeletConfigError(message, fix, mark.line + 1, mark.column + 1)


def _syntax(error: yaml.MarkedYAMLError) -> KubeletConfigError:
    mark = error.problem_mark or error.context_mark
    text = _one_line(" ".join(part for part in (error.context, error.problem) if part))
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (None, None)
    return KubeletConfigError(f"not YAML: {text}", "correct it there, or a line above", line, column)


def _control_character(text: str, error: yaml.YAMLError) -> KubeletConfigError:
    match = _UNREADABLE.search(text)
    if match is None:
        return KubeletConfigError(f"not YAML: {_one_line(str(error))}", "remove what a text file cannot hold")
    before = text[: match.start()]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return KubeletConfigError(f"not YAML: the character U+{ord(match[0]):04X}", "remove it", line, column)


def _one_line(text: str) -> str:
    return " ".join(text.split())
