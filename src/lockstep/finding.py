"""What a check says about one place in the user's own text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

DataPath = tuple[str | int, ...]
"""Where a value stands in parsed data: mapping keys and list indexes from the root."""


class Severity(StrEnum):
    """How much a finding weighs: an error ends a command with exit status 1, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Place:
    """A span of text in a file; line (as `lines` counts them) and column count from 1, the length in characters."""

    file: str
    line: int
    column: int
    length: int = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: what, where, what was expected there, and what to do.

    `message` is one sentence without a full stop. `hint` says what was expected or which word was probably meant,
    and is shown beside the caret; `fix` says what to change. `place` is None where the value has no text of its own
    (a default, say). `replacement` is the text to put in its stead where that is certain to be what was meant.
    """

    rule: str
    severity: Severity
    path: DataPath
    message: str
    hint: str | None = None
    fix: str | None = None
    place: Place | None = None
    replacement: str | None = None


_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


def lines(text: str) -> list[str]:
    """Return a text's lines, without their ends, as YAML counts them. Source: YAML 1.1, 5.4 "Line Break Characters"."""
    return _LINE_END.split(text)
