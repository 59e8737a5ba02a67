"""Why a node cannot be one of its pool, or should not."""

from __future__ import annotations

from dataclasses import dataclass

CHECKS = ("build", "edition", "memory", "processors", "disk", "virtualization", "winrm", "name", "clock", "features")
"""All checks. What one of them refuses may be accepted, and is a warning then."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What one check found: where and what was expected in `text`, and what to `do`. A warning where not `refuses`."""

    check: str
    text: str
    do: str
    refuses: bool = True

    def __str__(self) -> str:
        return f"{self.text} [{self.check}]\ndo: {self.do}"
