"""The data of a document's nodes, built as PyYAML builds it, with every finding instead of the first."""

from __future__ import annotations

from typing import Any

import yaml

from lockstep.finding import DataPath, Finding, Place, Severity
from lockstep.fleet.text.document import UNREADABLE, Entries, span
from lockstep.words import shortened

REPEATED_KEY = "LW006"
ENDLESS_ALIAS = "LW007"
UNKNOWN_TAG = "LW008"
UNREADABLE_VALUE = "LW009"

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_ANSIBLE_TAGS = frozenset({"!vault", "!vault-encrypted", "!unsafe"})
_DEEPEST = 100
_LARGEST = 5_000_000
_MOST_MERGED = 100_000


class Endless(Exception):  # noqa: N818 - no failure of the program: it ends the walk over a document
    """Aliases or nesting without an end: `node` is where that shows."""

    def __init__(self, message: str, node: yaml.Node, path: DataPath) -> None:
        super().__init__(message)
        self.node = node
        self.path = path


class Build:
    """Builds the data of a tree of nodes, each node once, and collects what is wrong with it."""

    def __init__(self, loader: Any, file: str) -> None:
        self._loader = loader
        self._file = file
        self._values: dict[int, tuple[Any, int]] = {}
        self._open: set[int] = set()
        self._keys: dict[int, Any] = {}
        self.entries: dict[int, Entries] = {}
        self.findings: list[Finding] = []
        self.ansible_only: list[DataPath] = []

    def value(self, node: yaml.Node, path: DataPath) -> Any:
        """Return a node's value."""
        return self._sized(node, path)[0]

    def _sized(self, node: yaml.Node, path: DataPath) -> tuple[Any, int]:
        """Return a node's value and how many values it holds with every alias written out."""
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path), 1
        known = self._values.get(id(node))
        if known is not None:
            return known
        if id(node) in self._open:
            raise Endless("an alias stands inside its own anchor", node, path)
        if len(path) > _DEEPEST:
            raise Endless(f"values are nested more than {_DEEPEST} levels deep", node, path)
        self._open.add(id(node))
        read = self._mapping if isinstance(node, yaml.MappingNode) else self._sequence
        built = read(node, path)
        self._open.remove(id(node))
        if built[1] > _LARGEST:
            raise Endless(f"its aliases stand for more than {_LARGEST:,} values", node, path)
        self._values[id(node)] = built
        return built

    def _mapping(self, node: yaml.Node, path: DataPath) -> tuple[Any, int]:
        entries = self._entries(node, path)
        self.entries[id(node)] = entries
        size = 1
        data = {}
        for key, (_, value_node) in entries.items():
            data[key], count = self._sized(value_node, (*path, key))
            size += count
        readable = self._plain(node, "map", path) and (data or not node.value)
        return (data, size) if readable else (UNREADABLE, size)

    def _sequence(self, node: yaml.Node, path: DataPath) -> tuple[Any, int]:
        size = 1
        data = []
        for index, item in enumerate(node.value):
            value, count = self._sized(item, (*path, index))
            data.append(value)
            size += count
        return (data, size) if self._plain(node, "seq", path) else (UNREADABLE, size)

    def _plain(self, node: yaml.Node, tag: str, path: DataPath) -> bool:
        """Return whether a collection has the tag that is its own; any other is a finding."""
        if node.tag == _TAG + tag:
            return True
        self._refuse_tag(node, path)
        return False

    def _entries(self, node: yaml.Node, path: DataPath) -> Entries:
        first: dict[Any, yaml.Node] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _TAG + "merge":
                self._build_sources(value_node, path)
                continue
            key = self._keys[id(key_node)] = self._key(key_node, path)
            if key in first and key is not UNREADABLE:
                self._error(
                    REPEATED_KEY,
                    (*path, key),
                    key_node,
                    f"'{key_node.value}' is there twice",
                    f"the first one is in line {first[key].start_mark.line + 1}; YAML would keep the last alone",
                    fix="remove or rename one of them",
                )
            first[key] = key_node
        self._merge(node, path)
        entries = {self._keys[id(key_node)]: (key_node, value_node) for key_node, value_node in node.value}
        entries.pop(UNREADABLE, None)
        return entries

    def _build_sources(self, node: yaml.Node, path: DataPath) -> None:
        """Build what a merge key brings in before it is merged, so that no mapping is merged into itself."""
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for source in sources:
            self._sized(source, (*path, "<<"))
        if sum(len(source.value) for source in sources) > _MOST_MERGED:
            raise Endless(f"it merges more than {_MOST_MERGED:,} keys", node, path)

    def _merge(self, node: yaml.Node, path: DataPath) -> None:
        """Apply merge keys by PyYAML itself: which mapping of a list wins is not the same in all its releases."""
        try:
            self._loader.flatten_mapping(node)
        except yaml.constructor.ConstructorError as error:
            mark = error.problem_mark or node.start_mark
            place = Place(self._file, mark.line + 1, mark.column + 1)
            message, hint = "'<<' merges mappings only", "expected an alias of a mapping, or a list of such"
            self.findings.append(Finding(UNREADABLE_VALUE, Severity.ERROR, path, message, hint, place=place))
            self._merge(node, path)

    def _key(self, node: yaml.Node, path: DataPath) -> Any:
        if isinstance(node, yaml.ScalarNode):
            if node.tag in {_TAG + "str", _TAG + "value"}:
                return str(node.value)
            return self._scalar(node, path)
        hint = 'a value that starts with {{ needs quotes: "{{ … }}"' if isinstance(node, yaml.MappingNode) else None
        self._error(UNREADABLE_VALUE, path, node, "a key must be text, not a list or mapping", hint)
        return UNREADABLE

    def _scalar(self, node: yaml.ScalarNode, path: DataPath) -> Any:
        if node.tag == _TAG + "str":
            return node.value
        if node.tag in _ANSIBLE_TAGS:
            self.ansible_only.append(path)
            return UNREADABLE
        if node.tag == _TAG + "binary" or node.tag not in Loader.yaml_constructors:
            self._refuse_tag(node, path)
            return UNREADABLE
        try:
            return self._loader.construct_object(node)
        except (
            ValueError,
            LookupError,
            ArithmeticError,
            AttributeError,
            yaml.YAMLError,
        ):  # all that PyYAML raises here
            what = "date" if node.tag == _TAG + "timestamp" else "number"
            hint = f'write it in quotes if it is text: "{shortened(node.value)}"'
            self._error(
                UNREADABLE_VALUE, path, node, f"'{shortened(node.value)}' looks like a {what} but is none", hint
            )
            return UNREADABLE

    def _refuse_tag(self, node: yaml.Node, path: DataPath) -> None:
        if node.tag in _ANSIBLE_TAGS:
            self.ansible_only.append(path)
            return
        shown = node.tag.replace(_TAG, "!!")
        if shown == "!!value":
            self._error(
                UNKNOWN_TAG, path, node, "'=' alone has a meaning of its own in YAML", 'write it in quotes: "="'
            )
            return
        self._error(UNKNOWN_TAG, path, node, f"the tag '{shown}' means nothing here", "expected a value without a tag")

    def _error(
        self,
        rule: str,
        path: DataPath,
        node: yaml.Node,
        message: str,
        hint: str | None = None,
        *,
        fix: str | None = None,
    ) -> None:
        place = span(self._file, node)
        self.findings.append(Finding(rule, Severity.ERROR, path, message, hint, fix, place))
