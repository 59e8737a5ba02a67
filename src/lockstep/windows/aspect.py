"""One aspect of a node, compared: what it is and is to be, for people, and the steps between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lockstep.node.operations import Operation, Result
from lockstep.node.remembered import key
from lockstep.words import MASK

# Account and password in an address, of a proxy for example.
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+(?=@)")


@dataclass(frozen=True, slots=True)
class Observed:
    """What a node answered, by what was asked."""

    results: Mapping[str, Result]

    @classmethod
    def of(cls, operations: Iterable[Operation], results: Iterable[Result]) -> Observed:
        """Return the answers to these operations, which have the same order."""
        return cls({key(asked): answer for asked, answer in zip(operations, results, strict=True)})

    def __call__(self, operation: Operation) -> Result:
        """Return the answer to an operation; raises KeyError for one that was not asked."""
        return self.results[key(operation)]


@dataclass(frozen=True, slots=True)
class Line:
    """One thing of an aspect, before and after; None where it is not there."""

    name: str
    before: str | None
    after: str | None

    @property
    def same(self) -> bool:
        """Whether nothing is to be done about it."""
        return self.before == self.after


@dataclass(frozen=True, slots=True)
class Change:
    """One step: its operation, what people call it, and what works after a restart of Windows only because of it."""

    label: str
    operation: Operation
    restart: str | None = None


@dataclass(frozen=True, slots=True)
class Aspect:
    """What one aspect of a node is and is to be."""

    title: str
    lines: Sequence[Line] = ()
    changes: Sequence[Change] = ()
    warnings: Sequence[str] = field(default_factory=tuple)

    def text(self, *, after: bool) -> str:
        """Return it as text to show, one thing a line, as it is or as it is to be; secrets are masked."""
        pairs = [(line.name, line.after if after else line.before) for line in self.lines]
        return "".join(f"{name}: {masked(value)}\n" for name, value in pairs if value is not None)


def masked(text: str) -> str:
    """Return text to show."""
    return _CREDENTIALS.sub(MASK, text)
