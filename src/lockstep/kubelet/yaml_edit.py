"""Edits of one entry in YAML text, by its place: no other line of the text changes.

A value that stands on its key's line is replaced there, in one line; one that stands on the lines below is replaced in
block form. A new entry is written in block form below the last one of its mapping, or as the first one within brackets.
Comments inside a replaced or removed value go with it; comments around it stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lockstep.kubelet import yaml_text
from lockstep.kubelet.problem import KubeletConfigError
from lockstep.kubelet.yaml_tree import Node, parse

Path = tuple[str, ...]

_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_COLON = re.compile(r"[ \t]*:")
_BREAKS = "\n\r\x85\u2028\u2029"


def newline_of(text: str) -> str:
    """Return the line end that `text` uses, that of its first line; a line feed where it has none."""
    match = _BREAK.search(text)
    return match[0] if match else "\n"


def set_entry(text: str, path: Path, intended: Mapping[str, Any]) -> str:
    """Return `text` with the entry at `path` set to its value in `intended`, the whole document's plain data.

    Where a mapping on the way is not written out (an alias, or keys merged in), it is written out there with everything
    that it should hold.
    """
    root = parse(text)
    if root is None:
        return _append(text, path[0], intended[path[0]])
    node, value = root, intended
    for depth, key in enumerate(path):
        value = value[key]
        child = node.get(key)
        last = depth == len(path) - 1
        if child is None:
            return _insert(text, node, key, value, list_indent=_list_indent(root))
        if last or child.kind != "mapping" or not child.entries:
            return _replace(text, node, key, value, list_indent=_list_indent(root))
        node = child
    raise AssertionError(path)  # the loop returns at the last key


def remove_entry(text: str, path: Path, intended: Mapping[str, Any]) -> str:
    """Return `text` without the entry at `path`.

    Where the entry is not written out (an alias, or a merged key), the mapping it is in is, as `intended` has it.
    """
    node = parse(text)
    for key in path[:-1]:
        node = node.get(key) if node is not None else None
    entries = node.entries if node is not None else []
    index = next((i for i, (key, _) in enumerate(entries) if key.value == path[-1]), None)
    if node is None or index is None:
        if len(path) == 1:
            raise KubeletConfigError(f"'{path[0]}' comes out of a merge key", "write out what '<<' merges in")
        return set_entry(text, path[:-1], intended)
    return _remove_flow(text, node, index) if node.flow else _remove_block(text, node, index)


def _append(text: str, key: str, value: Any) -> str:
    """Return a text that holds nothing but comments and markers, with its first entry."""
    newline = newline_of(text)
    end = re.search(r"^\.\.\.(?=\s|$)", text, re.MULTILINE)
    position = end.start() if end else len(text)
    gap = newline if text[:position] and text[position - 1] not in _BREAKS else ""
    lines = newline.join(yaml_text.entry(key, value, 0, 0))
    return text[:position] + gap + lines + newline + text[position:]


def _insert(text: str, node: Node, key: str, value: Any, *, list_indent: int) -> str:
    if node.flow:
        return _insert_flow(text, node, key, value)
    newline = newline_of(text)
    lines = newline.join(yaml_text.entry(key, value, node.column, list_indent))
    position = _line_end(text, node.end)
    if position > 0 and text[position - 1] in _BREAKS:
        return text[:position] + lines + newline + text[position:]
    if _leaf(node).style in ("|", ">"):  # a line break after it would become part of that text
        start = _line_start(text, node.entries[0][0].start)
        return text[:start] + lines + newline + text[start:]
    return text[:position] + newline + lines + text[position:]


def _insert_flow(text: str, node: Node, key: str, value: Any) -> str:
    first = node.entries[0][0] if node.entries else None
    position = first.start if first else text.index("{", node.start) + 1
    quoted = first.style == '"' if first else False
    entry = f"{yaml_text.scalar(key, flow=True, quoted=quoted)}: {yaml_text.inline(value, quoted=quoted)}"
    if first is None:
        return text[:position] + entry + text[position:]
    margin = text[_line_start(text, position) : position]
    gap = " " if margin.strip() else newline_of(text) + margin
    return f"{text[:position]}{entry},{gap}{text[position:]}"


def _replace(text: str, node: Node, key: str, value: Any, *, list_indent: int) -> str:
    name, old = next(pair for pair in node.entries if pair[0].value == key)
    quoted = node.flow and name.style == '"'
    below = not node.flow and old.kind in ("mapping", "sequence") and not old.flow and old.line > name.line
    if not below:
        return _replace_inline(text, old, yaml_text.inline(value, quoted=quoted, nested=node.flow))
    start, newline = _line_start(text, old.start), newline_of(text)
    if isinstance(value, Mapping) and value:
        column = max(old.column, node.column + 1)
        lines = [line for field, item in value.items() for line in yaml_text.entry(field, item, column, list_indent)]
    elif isinstance(value, list | tuple) and value:
        lines = yaml_text.items(value, old.column, list_indent)
    else:
        colon = _COLON.match(text, name.end)
        if colon is None:
            raise KubeletConfigError(
                f"the key '{key}' is written with a '?'", "write it as 'key: value'", name.line + 1, 1
            )
        tail = _cut_lines(text, start, old.end)
        return f"{text[: colon.end()]} {yaml_text.inline(value, nested=False)}{tail[colon.end() :]}"
    end = _content_end(text, old)
    return text[:start] + newline.join(lines) + text[end:]


def _replace_inline(text: str, old: Node, new: str) -> str:
    gap = " " if old.start == old.end and text[old.start - 1 : old.start] == ":" else ""
    return text[: old.start] + gap + new + text[_content_end(text, old) :]


def _remove_block(text: str, node: Node, index: int) -> str:
    name, value = node.entries[index]
    start = _line_start(text, name.start)
    if text[start : name.start].strip():
        raise KubeletConfigError(
            f"'{name.value}' does not start its line", "put it on a line of its own", name.line + 1, name.column + 1
        )
    return _cut_lines(text, start, max(value.end, name.end))


def _remove_flow(text: str, node: Node, index: int) -> str:
    name, value = node.entries[index]
    end = max(value.end, name.end)
    if index + 1 < len(node.entries):
        return text[: name.start] + text[node.entries[index + 1][0].start :]
    before = max((part.end for part in node.entries[index - 1]), default=0) if index else name.start
    start = name.start if "#" in text[before : name.start] else before
    return text[:start] + text[end:]


def _cut_lines(text: str, start: int, end: int) -> str:
    """Return `text` without the lines from the one that starts at `start` to the one that `end` is on."""
    stop = _line_end(text, end)
    if stop == len(text) and start > 0 and text[stop - 1] not in _BREAKS:  # a missing last line end stays missing
        start -= 2 if text[:start].endswith("\r\n") else 1
    return text[:start] + text[stop:]


def _content_end(text: str, node: Node) -> int:
    """Return where a node's own text ends, less the line breaks that end a block scalar."""
    return node.start + len(text[node.start : node.end].rstrip(" " + _BREAKS)) if node.end > node.start else node.end


def _line_start(text: str, position: int) -> int:
    while position > 0 and text[position - 1] not in _BREAKS:
        position -= 1
    return position


def _line_end(text: str, position: int) -> int:
    """Return where the line that ends at or after `position` is over, its line break included."""
    if position > 0 and text[position - 1] in _BREAKS:
        return position
    match = _BREAK.search(text, position)
    return match.end() if match else len(text)


def _leaf(node: Node) -> Node:
    while node.entries or node.items:
        node = node.entries[-1][1] if node.entries else node.items[-1]
    return node


def _list_indent(root: Node) -> int:
    """Return how much further in than its key the first block list of the file stands: what a new one should do too."""
    for name, value in root.entries:
        if value.kind == "sequence" and not value.flow and value.line > name.line:
            return value.column - name.column
        if value.kind == "mapping" and not value.flow and (inner := _list_indent(value)):
            return inner
    return 0
