"""What a kind of single value is: what it accepts, what it says to what it refuses, its JSON Schema.

Nothing is coerced silently. A number or truth value counts only where what was written can mean one thing; everything
else that YAML 1.1 read as something other than text is refused with the advice to quote it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

from lockstep.fleet.shape import refusal
from lockstep.fleet.shape.refusal import Refused
from lockstep.words import nearest, shortened

T = TypeVar("T")

Raw = str | None
"""An unquoted scalar's text as written; None where it was quoted, comes from a template, or is no scalar."""

_SORTS: tuple[tuple[type, str], ...] = (
    (bool, "a truth value"),
    (int, "a number"),
    (float, "a number"),
    (str, "text"),
    (date, "a date"),
    (Mapping, "a mapping"),
    (object, "a list"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of single value. `read` returns the value to go on with, or raises Refused."""

    expected: str
    read: Callable[[Any, Raw], Any]
    schema: Callable[[], Mapping[str, Any]]


def written(value: Any, raw: Raw) -> str:
    """Return a value as its author sees it."""
    if raw is not None:
        return shortened(raw)
    if isinstance(value, bool):
        return str(value).lower()
    return shortened(str(value))


def sort_of(value: Any) -> str:
    """Return what a value is, in a person's words."""
    return "nothing" if value is None else next(words for kind, words in _SORTS if isinstance(value, kind))


def wrong_type(value: Any, expected: str) -> Refused:
    """Return the refusal of a value that is another sort of thing altogether."""
    return Refused(refusal.WRONG_TYPE, f"{sort_of(value)} where {expected} is needed", f"expected {expected}")


def needs_quotes(value: Any, raw: Raw) -> Refused:
    """Return the refusal of a truth value, number or date where text is needed."""
    shown = written(value, raw)
    if raw is None:
        hint = "write it in quotes; a template becomes text with | string"
        return Refused(refusal.NEEDS_QUOTES, f"{shown} is {sort_of(value)}, not text", hint)
    as_read = "" if shown.lower() == str(value).lower() or isinstance(value, date) else f"{str(value).lower()}, "
    return Refused(
        refusal.NEEDS_QUOTES,
        f"{shown} without quotes is {as_read}{sort_of(value)}, not text",
        f'write it in quotes: "{shown}"',
    )


def text(value: Any, raw: Raw, expected: str = "text") -> str:
    """Return text; raises Refused for everything that YAML does not read as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float | date):
        raise needs_quotes(value, raw)
    raise wrong_type(value, expected)


def meant_by(value: Any, raw: Raw, expected: str, accept: Callable[[str], T]) -> T:
    """Return what `accept` makes of text, or raise what it refuses.

    For a truth value, number or date that would be accepted in quotes, raises the advice to write them.
    """
    try:
        content = text(value, raw, expected)
    except Refused as refused:
        if refused.rule == refusal.NEEDS_QUOTES and raw is not None:
            refused.instead = accept(raw)
        raise
    return accept(content)


def text_kind(
    expected: str,
    rule: str,
    problem: Callable[[str], str | None],
    schema: Mapping[str, Any],
) -> Kind:
    """Return a kind of text; `problem` returns what is wrong with one, or raises Refused where it knows better."""

    def checked(content: str) -> str:
        if message := problem(content):
            raise refused_as(rule, message)
        return content

    return Kind(
        expected,
        lambda value, raw: meant_by(value, raw, expected, checked),
        lambda: {"type": "string", **schema},
    )


def word_kind(expected: str, words: tuple[str, ...]) -> Kind:
    """Return a kind of text that is one of a few words."""

    def known(content: str) -> str:
        if content in words:
            return content
        near = nearest(content, words)
        hint = f"did you mean '{near}'?" if near else f"expected {expected}"
        message = f"'{shortened(content)}' is not {expected}"
        raise Refused(refusal.UNKNOWN_WORD, message, hint, instead=near or refusal.INVALID)

    return Kind(expected, lambda value, raw: meant_by(value, raw, expected, known), lambda: {"enum": list(words)})


def refused_as(rule: str, message: str) -> Refused:
    """Return a refusal from a problem's text: what comes after ': expected' is the hint."""
    what, found, expected = message.partition(": expected ")
    return Refused(rule, what, f"expected {expected}" if found else None)
