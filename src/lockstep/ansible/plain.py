"""Plain values from Ansible's: since 2.19 these are tagged subclasses of Python's types that other libraries refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from typing import Any


def to_plain(value: Any) -> Any:  # noqa: PLR0911 - one return a type
    """Return the same value made of dict, list, str, int, float, bool, date, datetime and None only.

    A date stays one, so that whoever wanted text can refuse it. Raises TypeError for anything else.
    """
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case int():
            return int.__int__(value)
        case float():
            return float.__float__(value)
        case datetime():
            return datetime.combine(value.date(), value.timetz())
        case date():
            return date.fromordinal(value.toordinal())
        case Mapping():
            return {to_plain(key): to_plain(item) for key, item in value.items()}
        case Sequence() | AbstractSet() if not isinstance(value, bytes):
            return [to_plain(item) for item in value]
        case _:
            raise TypeError(
                f"a {type(value).__name__} is of no use here: expected text, a number, true, false, a list or mapping"
            )
