"""What is remembered of a node's answers, and which of them are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lockstep.node.operations import Operation, Result

_LIMITS = ("timeout_seconds",)
"""Arguments that limit how long an answer is waited for; what is asked is the same without them."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is known of a node, by `key`. `state` is another whenever something may have changed there."""

    state: str = ""
    results: Mapping[str, Result] = field(default_factory=dict)


class Cache(Protocol):
    """Remembers a node's answers. Several processes may use it at once."""

    def remembered(self) -> Remembered:
        """Return what is known, to be handed back to `keep` with what was asked besides."""

    def keep(self, since: Remembered, results: Mapping[str, Result]) -> None:
        """Remember answers that were read after `since`, unless something may have changed the node meanwhile."""

    def drop(self) -> None:
        """Forget everything, also what others are reading at this moment."""


def key(operation: Operation) -> str:
    """Return what an operation asks, as text: equal where the answers would be."""
    return json.dumps({name: value for name, value in operation.items() if name not in _LIMITS}, sort_keys=True)


def keeps(result: Result) -> bool:
    """Return whether an answer is one to remember: no failure, no program that was ended for its time."""
    return bool(result["ok"]) and not result.get("timed_out", False)


def once(operations: Iterable[Operation]) -> list[Operation]:
    """Return the operations without those that ask the same; of each, the one with the longest limits."""
    chosen: dict[str, Operation] = {}
    for operation in operations:
        former = chosen.setdefault(key(operation), operation)
        for limit in _LIMITS:
            if operation.get(limit, 0) > former.get(limit, 0):
                chosen[key(operation)] = operation
    return list(chosen.values())
