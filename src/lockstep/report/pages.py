"""Which findings have a page that `lockstep explain` shows."""

from __future__ import annotations

from functools import cache

from lockstep.knowledge import files


@cache
def title(rule: str) -> str | None:
    """Return the title of a rule's page, or None where it has no page."""
    try:
        heading = files.text("rules", rule, ".md").partition("\n")[0]
    except FileNotFoundError:
        return None
    return heading.partition(": ")[2] or None
