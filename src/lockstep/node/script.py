"""The agent's script: the parts of `agent/`, one after the other, because a node gets it as one text."""

from __future__ import annotations

import functools
from importlib.resources import files

FIRST = ("start", "json", "errors")
"""The parameter has to come first; the tables that parts register in come with it."""
LAST = ("journal", "transaction", "request")
"""The request is carried out when all that it may ask for is there."""


@functools.cache
def parts() -> tuple[str, ...]:
    """Return the names of the parts in their order.

    Between the first and the last stand the groups of operations. They only define and register, so their order means
    nothing, and a new one is a new file.
    """
    names = (entry.name for entry in files(__package__).joinpath("agent").iterdir())
    found = {name.removesuffix(".ps1") for name in names if name.endswith(".ps1")}
    return (*FIRST, *sorted(found - {*FIRST, *LAST}), *LAST)


def part(name: str) -> str:
    """Return the text of one part."""
    return files(__package__).joinpath("agent", f"{name}.ps1").read_text("ascii")


def written() -> str:
    """Return the whole script as it is written."""
    return "\n".join(part(name) for name in parts())


@functools.cache
def agent() -> str:
    """Return the whole script as a node gets it: without comments and indentation, which are a third of it.

    No part has a text of several lines, so every line can be looked at by itself.
    """
    lines = (line.strip() for line in written().splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("#")) + "\n"
