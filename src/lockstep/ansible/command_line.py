"""Flags on a service's command line."""

from __future__ import annotations

from collections.abc import Collection

from lockstep.kubelet.arguments import split


def flag_value(line: str, names: Collection[str]) -> str | None:
    """Return the value of the last of these flags (`--config x`, `--config=x`), or None where there is none."""
    found = None
    arguments = [argument.value for argument in split(line)][1:]
    for index, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in names:
            found = value if equals else next(iter(arguments[index + 1 :]), None)
    return found
