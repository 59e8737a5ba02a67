"""Annotations that the runhcs shim reads from Windows pods: what they take and what they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

from lockstep.catalog.data import load

Scope = Literal["virtualmachine", "container"]
SCOPES: tuple[Scope, ...] = ("virtualmachine", "container")
_BOOLEANS = frozenset(("1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"))
"""Source: Go's strconv.ParseBool."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation.

    `scope` is the utility VM of a pod in Hyper-V isolation, or a container. `apart` are the annotations that may not be
    set beside it. `minimum` and `maximum` bound a number, `default` is what holds without it; None where there is none.
    """

    name: str
    scope: Scope
    type: Literal["int", "bool", "string"]
    meaning: str
    minimum: int | None = None
    maximum: int | None = None
    default: bool | int | None = None
    unit: str | None = None
    apart: tuple[str, ...] = ()

    def problem(self, value: str) -> str | None:
        """Return what is wrong with a value, or None. The shim logs such a value and goes on without it."""
        if self.type == "bool":
            return None if value in _BOOLEANS else f"'{value}' is not true or false"
        if self.type == "int":
            low, high = self.minimum or 0, self.maximum
            number = int(value) if value.isascii() and value.isdigit() else None
            if number is None or number < low or (high is not None and number > high):
                return f"'{value}' is no whole number from {low}" + (f" to {high}" if high is not None else " on")
        return None


@cache
def known_annotations() -> Mapping[str, Annotation]:
    """Return every annotation by its name. Sources are in data/annotations.yaml."""
    data = load("annotations")
    return MappingProxyType(
        {
            name: Annotation(name, scope, **{**facts, "apart": tuple(facts.get("apart", ()))})
            for scope in SCOPES
            for name, facts in data[scope].items()
        }
    )
