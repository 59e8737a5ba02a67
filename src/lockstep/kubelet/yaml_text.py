"""Plain data as YAML text that YAML 1.1 and 1.2 read alike: what either could take for something else is quoted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_WORD = re.compile(r"[A-Za-z_/][A-Za-z0-9_./%+@=-]*(?::[A-Za-z0-9_./%+@=-]+)*", re.ASCII)
_FLOW_WORD = re.compile(r"[A-Za-z_/][A-Za-z0-9_./%+@-]*", re.ASCII)
_MEASURE = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[KMGTPE]i|[numkMGTP]|%)|(?:[0-9]+(?:h|ms|us|ns|m|s))+", re.ASCII)
_ADDRESS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}", re.ASCII)
_RESERVED = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_UNPRINTABLE = re.compile("[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def scalar(value: Any, *, flow: bool = False, quoted: bool = False) -> str:
    """Return a value that is no collection as YAML; `flow` is for within brackets, `quoted` for JSON."""
    if value is None or isinstance(value, bool | int | float):
        text = json.dumps(value)
        return text.replace("e", ".0e") if isinstance(value, float) and "e" in text and "." not in text else text
    text = str(value)
    word = (_FLOW_WORD if flow else _WORD).fullmatch(text) and text.lower() not in _RESERVED
    if not quoted and (word or _MEASURE.fullmatch(text) or _ADDRESS.fullmatch(text)):
        return text
    if not quoted and "\\" in text and not _UNPRINTABLE.search(text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + _UNPRINTABLE.sub(_escape, text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def inline(value: Any, *, quoted: bool = False, nested: bool = True) -> str:
    """Return a value on one line, collections in brackets; `nested` says that it stands within brackets already."""
    if isinstance(value, Mapping):
        inner = ", ".join(
            f"{scalar(key, flow=True, quoted=quoted)}: {inline(item, quoted=quoted)}" for key, item in value.items()
        )
        return "{" + inner + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(inline(item, quoted=quoted) for item in value) + "]"
    return scalar(value, flow=nested, quoted=quoted)


def entry(key: str, value: Any, indent: int, list_indent: int) -> list[str]:
    """Return the lines, without line ends, of one entry of a block mapping whose keys stand at `indent`.

    `list_indent` is how much further in than its key a list's dashes stand, 0 or more.
    """
    head = f"{' ' * indent}{scalar(key)}:"
    if isinstance(value, Mapping) and value:
        return [head, *(line for name, item in value.items() for line in entry(name, item, indent + 2, list_indent))]
    if isinstance(value, list | tuple) and value:
        return [head, *items(value, indent + list_indent, list_indent)]
    return [f"{head} {inline(value, nested=False)}"]


def items(values: list[Any] | tuple[Any, ...], indent: int, list_indent: int) -> list[str]:
    """Return the lines, without line ends, of a block list whose dashes stand at `indent`."""
    lines: list[str] = []
    for value in values:
        if isinstance(value, Mapping) and value:
            inner = [line for name, item in value.items() for line in entry(name, item, indent + 2, list_indent)]
            lines += [f"{' ' * indent}- {inner[0].lstrip(' ')}", *inner[1:]]
        else:
            lines.append(f"{' ' * indent}- {inline(value, nested=False)}")
    return lines


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\U{code:08X}" if code > 0xFFFF else f"\\u{code:04X}"  # noqa: PLR2004 - the last code of four digits
