"""Flags on a service's command line."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lockstep.kubelet.arguments import quote, split


def flag_value(line: str, names: Collection[str]) -> str | None:
    """Return the value of the last of these flags (`--config x`, `--config=x`), or None where there is none."""
    found = None
    arguments = [argument.value for argument in split(line)][1:]
    for index, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in names:
            found = value if equals else next(iter(arguments[index + 1 :]), None)
    return found


def with_flag(line: str, names: Sequence[str], value: str, *, only_replace: bool = False) -> str:
    """Return the line with the last use of a flag set to a value; added at the end, as the first of its names, if none.

    With `only_replace` a flag that is not there is not added. All else stays as it is written.
    """
    arguments = split(line)
    for index in range(len(arguments) - 1, 0, -1):
        argument = arguments[index]
        name, equals, present = argument.value.partition("=")
        if name not in names:
            continue
        if equals:
            joined = quote(f"{name}={value}")
            return line if present == value else f"{line[: argument.start]}{joined}{line[argument.end :]}"
        following = arguments[index + 1] if index + 1 < len(arguments) else None
        if following is None:
            return f"{line} {quote(value)}"
        if following.value == value:
            return line
        return f"{line[: following.start]}{quote(value)}{line[following.end :]}"
    return line if only_replace else f"{line} {names[0]} {quote(value)}"
