"""A config.toml between reading and writing: its text, and beside it the data that the text is meant to have.

Every change is made twice, to the text by places and to plain dicts by keys; `to_bytes` reads the text again and
compares.
"""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from lockstep.containerd import edit
from lockstep.containerd.errors import ContainerdConfigError
from lockstep.containerd.scan import Path, place

_BOM = "\ufeff"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_AT = re.compile(r"(.*) \(at (line \d+, column \d+|end of document)\)", re.DOTALL)


class Draft:
    """One file being edited. `data` is what its text is meant to say; only `put`, `rename` and `delete` change it."""

    def __init__(self, existing: bytes) -> None:
        """Read the file's bytes. Raises ContainerdConfigError where they are not UTF-8 or not TOML."""
        text = decode(existing)
        self._bom = _BOM if text.startswith(_BOM) else ""
        self._read = self._text = text.removeprefix(_BOM)
        self._emptied: set[Path] = set()
        self.data = parse(self._text)

    def table(self, path: Path) -> Mapping[str, Any] | None:
        """Return the table at a path, None where there is nothing.

        Raises ContainerdConfigError where something else is there.
        """
        found: Any = self.data
        for depth, name in enumerate(path, start=1):
            if name not in found:
                return None
            found = found[name]
            if not isinstance(found, dict):
                raise self.error(path[:depth], f"holds {_kind(found)} where containerd expects a table")
        return dict(found)

    def error(self, path: Path, what: str, do: str = "correct it by hand, then run again") -> ContainerdConfigError:
        """Return an error that names the key and where it is written, and what to do."""
        at = place(self._read, path)
        where = f"line {at[0]}, column {at[1]}: " if at else ""
        return ContainerdConfigError(f"{where}{shown(path)} {what}: {do}")

    def put(self, path: Path, value: Any) -> None:
        """Set a value, or add a whole table where there is nothing."""
        self._text = edit.put(self._text, path, value)
        table = self.data
        for name in path[:-1]:
            table = table.setdefault(name, {})
        table[path[-1]] = copy.deepcopy(value)

    def rename(self, path: Path, name: str) -> None:
        """Give a key another spelling."""
        self._text = edit.rename(self._text, path, name)
        table = self._parent(path)
        table[name] = table.pop(path[-1])

    def delete(self, path: Path, *, with_comments: bool = False, prune: bool = False) -> None:
        """Take out a key or table; with `prune` also the tables above it that are left with nothing."""
        self._text = edit.delete(self._text, path, with_comments=with_comments)
        del self._parent(path)[path[-1]]
        above = path[:-1]
        if above and not self._parent(above)[above[-1]]:
            # Whether an emptied table is still written depends on whether it has a header of its own.
            self._emptied |= {above[:length] for length in range(1, len(above) + 1)}
            if prune:
                self.delete(above, prune=True)

    def to_bytes(self, *, byte_order_mark: bool) -> bytes:
        """Return the file's new bytes, with the byte order mark that it had where one may stay.

        Raises ContainerdConfigError where the text does not say what it is meant to say: it is never returned then.
        """
        try:
            differing = list(self._differences(parse(self._text), self.data))
        except ContainerdConfigError as error:
            differing = [str(error)]
        if differing:
            raise ContainerdConfigError(
                f"this file cannot be edited safely as it is written ({', '.join(differing[:3])} would come out wrong) "
                "and is left alone: write the tables of its CRI plugin as plain [sections], then run again"
            )
        return ((self._bom if byte_order_mark else "") + self._text).encode()

    def _differences(self, one: Any, other: Any, path: Path = ()) -> Iterator[str]:
        """Yield the keys at which two tables differ; one that was emptied may be there or not."""
        if not isinstance(one, Mapping) or not isinstance(other, Mapping):
            if not same(one, other):
                yield shown(path)
            return
        for key in {**one, **other}:
            here = (*path, key)
            empty: dict[str, Any] | None = {} if here in self._emptied else None
            yield from self._differences(one.get(key, empty), other.get(key, empty), here)

    def _parent(self, path: Path) -> dict[str, Any]:
        table = self.data
        for name in path[:-1]:
            table = table[name]
        return table


def decode(existing: bytes) -> str:
    """Return a file's text. Raises ContainerdConfigError where it is not UTF-8, all that containerd reads."""
    if existing.startswith(_UTF16):
        raise ContainerdConfigError(
            "the file is UTF-16, which is what `>` writes in Windows PowerShell; containerd reads UTF-8 only: "
            "save it as UTF-8, for instance with Out-File -Encoding ascii"
        )
    try:
        return existing.decode("utf-8")
    except UnicodeDecodeError as error:
        line = existing.count(b"\n", 0, error.start) + 1
        raise ContainerdConfigError(
            f"line {line}: byte 0x{existing[error.start]:02x} is not UTF-8, the only encoding that containerd reads: "
            "save the file as UTF-8"
        ) from None


def parse(text: str) -> dict[str, Any]:
    """Return a text's data. Raises ContainerdConfigError with line and column where it is not TOML."""
    try:
        return tomllib.loads(text)
    except ValueError as error:
        found = _AT.fullmatch(str(error))
        message = f"{found[2]}: {found[1]}" if found else str(error)
    except RecursionError:
        message = "its values are nested too deeply"
    raise ContainerdConfigError(f"the file is not TOML, {message}: correct it by hand, then run again")


def shown(path: Path) -> str:
    """Return a path as it is written in TOML."""
    return ".".join(edit.quoted(part) for part in path)


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same TOML: 1, 1.0 and true are three values, and nan is nan."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(same(left, right) for left, right in zip(one, other, strict=True))
    return type(one) is type(other) and repr(one) == repr(other)


def _kind(value: Any) -> str:
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "a table"}
    return kinds.get(type(value), "a date")
