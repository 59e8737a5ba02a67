"""What a check of one value raises: the finding's parts, and the value to go on with so that later checks still run."""

from __future__ import annotations

from typing import Any, Final

WRONG_TYPE = "LW101"
UNKNOWN_KEY = "LW102"
MISSING_KEY = "LW103"
UNKNOWN_BUILD = "LW104"
UNKNOWN_WORD = "LW105"
NEEDS_QUOTES = "LW106"
NO_VERSION = "LW107"
NO_QUANTITY = "LW108"
NO_NAME = "LW109"
NO_LABEL = "LW110"
RESERVED_LABEL = "LW111"
OUT_OF_RANGE = "LW112"
NO_IMAGE = "LW113"
NO_TOLERATION = "LW114"
UNKNOWN_POOL = "LW115"
REPEATED_ITEM = "LW116"
SHARED_GROUP = "LW117"

INVALID: Final = object()
"""Stands for a value that cannot be used: its finding is there, and nothing may be derived from it."""


class Partial(dict[str, Any]):
    """What can be used of a record that is wrong elsewhere: nothing may be derived from it as a whole."""


class Refused(ValueError):  # noqa: N818 - it is the value that errs
    """A value that is refused; `instead` is what was surely meant, or INVALID."""

    def __init__(
        self,
        rule: str,
        message: str,
        hint: str | None = None,
        fix: str | None = None,
        *,
        instead: Any = INVALID,
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.hint = hint
        self.fix = fix
        self.instead = instead
