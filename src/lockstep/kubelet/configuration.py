"""KubeletConfiguration files: planned fields merged into whatever is there, byte for byte the same elsewhere.

The rule of merging: a mapping is merged key by key, a value that is already the planned one keeps its spelling, None
removes its entry, and everything else, lists included, is replaced as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.catalog.kubernetes import minor
from lockstep.finding import DataPath
from lockstep.kubelet import yaml_edit, yaml_text
from lockstep.kubelet.problem import KubeletConfigError
from lockstep.kubelet.yaml_tree import Node, load, parse

API_VERSION = "kubelet.config.k8s.io/v1beta1"
KIND = "KubeletConfiguration"
_HEAD = {"apiVersion": API_VERSION, "kind": KIND}
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class View:
    """What a KubeletConfiguration file says.

    `fields` is plain data without apiVersion and kind; `places` has the line and column, from 1, of every key and list
    item that is written out, by its path; `newline` is the file's line end, and `bom` whether it starts with a byte
    order mark.
    """

    fields: Mapping[str, Any]
    places: Mapping[DataPath, tuple[int, int]]
    newline: str
    bom: bool


def merge_configuration(existing: bytes | None, fields: Mapping[str, Any], version: str) -> bytes:
    """Return the bytes of a KubeletConfiguration file that has `fields` and keeps everything else of `existing`.

    `fields` are JSON names and plain values; `existing` is None where there is no file. The result read again is
    exactly the merged data, and merging again changes nothing. Raises KubeletConfigError where `existing` is no
    KubeletConfiguration or cannot be edited safely, and UnknownMinor for an unknown `version`.
    """
    minor(version)
    planned = {name: value for name, value in _plain(fields, ()).items() if name not in _HEAD}
    if existing is None:
        lines = [
            line
            for name, value in (_HEAD | _without_none(planned)).items()
            for line in yaml_text.entry(name, value, 0, 0)
        ]
        return ("\n".join(lines) + "\n").encode()
    bom, text = _decode(existing)
    current = _read(text)
    missing = {name: value for name, value in _HEAD.items() if name not in current}
    intended = _merged(current, missing | planned)
    return _encode(bom, _edit(text, current, intended))


def remove_configuration(existing: bytes | None, fields: Mapping[str, Any], version: str) -> bytes | None:
    """Return `existing` without the entries that `fields` name, whatever their values, and mappings left empty.

    apiVersion and kind stay, so that kubelet still reads the file. Returns None for no file; raises as
    `merge_configuration`.
    """
    minor(version)
    if existing is None:
        return None
    bom, text = _decode(existing)
    current = _read(text)
    planned = {name: value for name, value in fields.items() if name not in _HEAD}
    return _encode(bom, _edit(text, current, _pruned(current, planned)))


def inspect_configuration(data: bytes) -> View:
    """Return what a KubeletConfiguration file says; raises KubeletConfigError as `merge_configuration`."""
    bom, text = _decode(data)
    fields = {name: value for name, value in _read(text).items() if name not in _HEAD}
    root = parse(text)
    places = dict(_places(root, ())) if root is not None else {}
    return View(fields, places, yaml_edit.newline_of(text), bool(bom))


def same(one: Any, other: Any) -> bool:
    """Return whether two plain values are equal and of one type, as kubelet's decoder sees them: true is not 1."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and bool(one == other)


def _decode(data: bytes) -> tuple[str, str]:
    """Return the byte order mark, if any, and the text after it."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise KubeletConfigError("not UTF-8", "save the file as UTF-8", line, column) from None
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _encode(bom: str, text: str) -> bytes:
    return (bom + text).encode()


def _read(text: str) -> dict[str, Any]:
    data = load(text)
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise KubeletConfigError("not a mapping of fields", f"expected 'kind: {KIND}' and its fields", 1, 1)
    root = parse(text)
    for name, expected in _HEAD.items():
        if name in data and data[name] != expected:
            key = next((key for key, _ in root.entries if key.value == name), None) if root else None
            line, column = (key.line + 1, key.column + 1) if key else (1, 1)
            raise KubeletConfigError(
                f"{name} is '{data[name]}'", f"expected '{expected}': is this the right file?", line, column
            )
    return data


def _plain(value: Any, path: tuple[str, ...]) -> Any:
    """Return a planned value as plain data, in which a number without fraction is a whole one."""
    if isinstance(value, Mapping):
        return {_key(key, path): _plain(item, (*path, str(key))) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, (*path, str(index))) for index, item in enumerate(value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise KubeletConfigError(f"'{'.'.join(path)}' is {value!r}", "expected text, a number, true or false")


def _key(key: Any, path: tuple[str, ...]) -> str:
    if not isinstance(key, str):
        raise KubeletConfigError(f"'{'.'.join(path)}' has the key {key!r}", "write keys as text, in quotes")
    return key


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if not _only_removes(item)}
    return list(value) if isinstance(value, tuple) else value


def _only_removes(value: Any) -> bool:
    """Return whether a planned value has nothing to add: an empty mapping in its place would switch defaults off."""
    if isinstance(value, Mapping):
        return bool(value) and all(map(_only_removes, value.values()))
    return value is None


def _merged(current: Mapping[str, Any], planned: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(current)
    for key, value in planned.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = _merged(result[key], value)
        elif not _only_removes(value) and (key not in result or not same(result[key], _without_none(value))):
            result[key] = _without_none(value)
    return result


def _pruned(current: Mapping[str, Any], managed: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(current)
    for key, value in managed.items():
        if key not in result:
            continue
        if isinstance(value, Mapping) and value and isinstance(result[key], Mapping):
            inner = _pruned(result[key], value)
            if inner or not result[key]:
                result[key] = inner
                continue
        del result[key]
    return result


def _edit(text: str, current: Mapping[str, Any], intended: Mapping[str, Any]) -> str:
    result = text
    for path, gone in list(_changes(current, intended, ())):
        result = yaml_edit.remove_entry(result, path, intended) if gone else yaml_edit.set_entry(result, path, intended)
    if not same(load(result) or {}, intended):
        names = ", ".join(f"'{'.'.join(path)}'" for path, _ in _changes(current, intended, ()))
        raise KubeletConfigError(
            f"cannot change {names} without changing something else",
            "write out what anchors, aliases and merge keys share",
        )
    return result


def _changes(
    current: Mapping[str, Any], intended: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield what differs: the path of an entry, and whether it goes."""
    for key in current:
        if key not in intended:
            yield (*path, key), True
    for key, value in intended.items():
        old = current.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping) and old and value:
            yield from _changes(old, value, (*path, key))
        elif key not in current or not same(old, value):
            yield (*path, key), False


def _places(node: Node, path: DataPath) -> Iterator[tuple[DataPath, tuple[int, int]]]:
    for key, value in node.entries:
        if key.kind == "scalar":
            yield (*path, key.value), (key.line + 1, key.column + 1)
            yield from _places(value, (*path, key.value))
    for index, item in enumerate(node.items):
        yield (*path, index), (item.line + 1, item.column + 1)
        yield from _places(item, (*path, index))
