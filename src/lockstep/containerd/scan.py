"""Where each header and key of a TOML text stands, so that one value can be changed and every other byte kept.

The text must be one that tomllib reads: this finds places, it does not judge. Source of the grammar: toml.io v1.0.0.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

Path = tuple[str, ...]

_PART = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*'""")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_GAP = re.compile(r"(?:\s|#[^\n]*)*")
_SCALAR = re.compile(
    r"""\"{3}(?:[^\\]|\\.)*?\"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\]|\\.)*"|'[^']*'|[^,\]}#\r\n]+""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a dotted key: what it means, how it is written, where."""

    name: str
    raw: str
    start: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One `key = value`, on lines of its own or inside an inline table.

    `path` is absolute. `start` and `end` enclose the value. `inline` are the entries of a value that is an inline
    table, else None.
    """

    path: Path
    key: tuple[Part, ...]
    start: int
    end: int
    inline: tuple[Entry, ...] | None


@dataclass(frozen=True, slots=True)
class Block:
    """A header and the entries up to the next one; the first block of a text is its root and has no header.

    `path` is None inside an array of tables, where a path alone names no place. `start` and `end` enclose the header.
    """

    path: Path | None
    key: tuple[Part, ...]
    start: int
    end: int
    entries: tuple[Entry, ...]


@lru_cache(maxsize=16)
def scan(text: str) -> tuple[Block, ...]:
    """Return the text's blocks in order; the first is the root, which may be empty."""
    blocks: list[Block] = []
    arrays: set[Path] = set()
    path: Path | None = ()
    key: tuple[Part, ...] = ()
    start = end = 0
    entries: list[Entry] = []
    at = _skip(text, 0)
    while at < len(text):
        if text[at] != "[":
            entry = _entry(text, at, path or ())
            entries.append(entry)
            at = _skip(text, entry.end)
            continue
        blocks.append(Block(path, key, start, end, tuple(entries)))
        brackets = 2 if text.startswith("[[", at) else 1
        key = _key(text, _blank(text, at + brackets))
        names = tuple(part.name for part in key)
        if brackets == 2:  # noqa: PLR2004 - the two brackets of an array's header
            arrays.add(names)
        in_array = any(names[:length] in arrays for length in range(1, len(names) + 1))
        path = None if in_array else names
        start, end = at, text.index("]", key[-1].start + len(key[-1].raw)) + brackets
        entries = []
        at = _skip(text, end)
    blocks.append(Block(path, key, start, end, tuple(entries)))
    return tuple(blocks)


def entries_of(text: str) -> Iterator[tuple[Block, Entry]]:
    """Yield every entry that stands on lines of its own and has a path, with its block."""
    for block in scan(text):
        if block.path is not None:
            for entry in block.entries:
                yield block, entry


def place(text: str, path: Path) -> tuple[int, int] | None:
    """Return line and column, from 1, of what defines `path` or else the nearest key above it; None without either."""
    found: tuple[int, int] = (0, -1)
    for block in scan(text):
        marks = [(tuple(part.name for part in block.key), block.start)]
        if block.path is not None:
            marks += [(entry.path, entry.key[0].start) for entry in _flat(block.entries)]
        for where, at in marks:
            shared = common(where, path)
            if shared > found[0] and shared == min(len(where), len(path)):
                found = (shared, at)
    at = found[1]
    return None if at < 0 else (text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def common(one: Path, other: Path) -> int:
    """Return how many parts two paths share from the start."""
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    return shared


def _flat(entries: tuple[Entry, ...]) -> Iterator[Entry]:
    for entry in entries:
        yield entry
        yield from _flat(entry.inline or ())


def _entry(text: str, at: int, table: Path) -> Entry:
    key = _key(text, at)
    path = table + tuple(part.name for part in key)
    equals = text.index("=", key[-1].start + len(key[-1].raw))
    start = _blank(text, equals + 1)
    end, inline = _value(text, start, path)
    return Entry(path, key, start, end, inline)


def _key(text: str, at: int) -> tuple[Part, ...]:
    parts = []
    while True:
        raw = _read(_PART, text, at)
        parts.append(Part(_name(raw), raw, at))
        dot = _DOT.match(text, at + len(raw))
        if dot is None:
            return tuple(parts)
        at = dot.end()


def _name(raw: str) -> str:
    if raw.startswith("'"):
        return raw[1:-1]
    if raw.startswith('"'):
        return str(tomllib.loads(f"name = {raw}")["name"])
    return raw


def _value(text: str, at: int, path: Path) -> tuple[int, tuple[Entry, ...] | None]:
    """Return where the value ends, and the entries of an inline table."""
    if text[at] == "[":
        at = _skip(text, at + 1)
        while text[at] != "]":
            at = _comma(text, _value(text, at, path)[0])
        return at + 1, None
    if text[at] == "{":
        entries = []
        at = _skip(text, at + 1)
        while text[at] != "}":
            entries.append(_entry(text, at, path))
            at = _comma(text, entries[-1].end)
        return at + 1, tuple(entries)
    return at + len(_read(_SCALAR, text, at).rstrip()), None


def _comma(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    """Return the next place that is neither white space nor comment."""
    return at + len(_read(_GAP, text, at))


def _blank(text: str, at: int) -> int:
    while text[at] in " \t":
        at += 1
    return at


def _read(pattern: re.Pattern[str], text: str, at: int) -> str:
    match = pattern.match(text, at)
    if match is None:
        raise ValueError(f"no TOML at character {at}, which tomllib would have refused")
    return match.group()
