"""Flags on a service's command line.

Source: Microsoft Learn, "Parsing C command-line arguments": 2n backslashes before a quotation mark are n of them, one more makes
the mark a character; anywhere else a backslash is itself. In the program's name, the first argument, it always is.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_PROGRAM = re.compile(r'\s*(?:"([^"]*)"|(\S+))')
_PIECE = re.compile(r'(?P<slashes>\\+)(?=(?P<quote>")?)|(?P<mark>")|(?P<space>[ \t]+)|(?P<text>[^\\" \t]+)')


def arguments_of(line: str) -> list[str]:
    """Return the program that a command line names, and its arguments."""
    program = _PROGRAM.match(line)
    if program is None:
        return []
    found = [program[1] or program[2] or ""]
    current: str | None = None
    quoted = escaped = False
    for piece in _PIECE.finditer(line, program.end()):
        text = piece[0]
        if piece["slashes"]:
            escaped = bool(piece["quote"]) and len(text) % 2 == 1
            text = text[: len(text) // 2] if piece["quote"] else text
        elif piece["mark"]:
            text = '"' if escaped else ""
            quoted = quoted if escaped else not quoted
            escaped = False
        elif piece["space"] and not quoted:
            found += [] if current is None else [current]
            current = None
            continue
        current = (current or "") + text
    return found if current is None else [*found, current]


def flag_value(line: str, names: Collection[str]) -> str | None:
    """Return the value of the last of these flags (`--config x`, `--config=x`), or None where there is none."""
    found = None
    arguments = arguments_of(line)[1:]
    for index, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in names:
            found = value if equals else next(iter(arguments[index + 1 :]), None)
    return found
