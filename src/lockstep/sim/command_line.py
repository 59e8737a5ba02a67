"""Windows command lines, taken apart.

Source: Microsoft Learn, CommandLineToArgvW and "Parsing C command-line arguments": 2n backslashes before a
quotation mark are n backslashes, an odd one makes the mark part of the argument; in the program's own name
backslashes are always themselves.
"""

from __future__ import annotations

import re


def split(line: str) -> list[str]:
    """Return the program and its arguments."""
    text = line.lstrip()
    if not text:
        return []
    if text.startswith('"'):
        program, _, rest = text[1:].partition('"')
    else:
        match = re.match(r"\S+", text)
        program = match.group() if match else ""
        rest = text[len(program) :]
    return [program, *_arguments(rest)]


def _arguments(text: str) -> list[str]:
    arguments: list[str] = []
    current: list[str] | None = None
    quoted = False
    index = 0
    while index < len(text):
        slashes = 0
        while index < len(text) and text[index] == "\\":
            slashes += 1
            index += 1
        at_quote = index < len(text) and text[index] == '"'
        if slashes:
            current = current or []
            current.append("\\" * (slashes // 2 if at_quote else slashes))
        if at_quote and slashes % 2:
            current = [*(current or []), '"']
        elif at_quote:
            quoted = not quoted
            current = current or []
        elif index < len(text) and text[index] in " \t" and not quoted:
            if current is not None:
                arguments.append("".join(current))
            current = None
        elif index < len(text):
            current = [*(current or []), text[index]]
        index += 1
    if current is not None:
        arguments.append("".join(current))
    return arguments
