"""A Windows command line as arguments that know where in the text they stand, and arguments as a command line.

Source: Microsoft Learn, "CommandLineToArgvW" and "Parsing C command-line arguments", by the rule from before 2008 for a
doubled quotation mark within quotes, which is also that of Go's os.Args (golang/go src/os/exec_windows.go).
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

_SPACE = " \t"


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as the program sees it, and its text from `start` up to `end`."""

    value: str
    start: int
    end: int


def split(line: str) -> list[Argument]:
    """Return the arguments of a command line, the program first."""
    found: list[Argument] = []
    at = 0
    while True:
        while at < len(line) and line[at] in _SPACE:
            at += 1
        if at == len(line):
            return found
        found.append(_argument(line, at))
        at = found[-1].end


def quote(value: str) -> str:
    """Return an argument as it has to be written on a command line: in quotes only where it needs them."""
    return subprocess.list2cmdline([value])


def join(values: Iterable[str]) -> str:
    """Return the command line that a program splits into exactly these values."""
    return " ".join(quote(value) for value in values)


def _argument(line: str, start: int) -> Argument:
    text: list[str] = []
    at, quoted = start, False
    while at < len(line) and (quoted or line[at] not in _SPACE):
        slashes = at
        while at < len(line) and line[at] == "\\":
            at += 1
        count = at - slashes
        if at < len(line) and line[at] == '"':
            text.append("\\" * (count // 2))
            if count % 2:
                text.append('"')
            else:
                if quoted and line[at + 1 : at + 2] == '"':
                    text.append('"')
                    at += 1
                quoted = not quoted
            at += 1
        elif count:
            text.append("\\" * count)
        else:
            text.append(line[at])
            at += 1
    return Argument("".join(text), start, at)
