"""Error texts from clusters: recognized in whatever was pasted, with their causes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from lockstep.knowledge.files import entries

_LONGEST = 200_000
"""Characters of a pasted text that are looked at, the last ones: what an error ends in decides."""
_QUOTES = str.maketrans("\u201c\u201d\u2018\u2019\u00a0", "\"\"'' ")
"""What word processors and chats make of quotes and spaces."""
_FEW = 3
_ENOUGH = 0.33
_ENOUGH_WORDS = 2
"""A text is near an error where they share this much of what tells, in more than one word: less is chance."""
_TELL_NOTHING = frozenset(
    [
        "a",
        "all",
        "also",
        "and",
        "any",
        "are",
        "but",
        "can",
        "cannot",
        "did",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "its",
        "may",
        "not",
        "now",
        "one",
        "our",
        "out",
        "than",
        "that",
        "the",
        "them",
        "then",
        "there",
        "they",
        "this",
        "too",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "why",
        "will",
        "with",
        "you",
        "your",
    ]
)


@dataclass(frozen=True, slots=True)
class Said:
    """An error text as it was really said, and where."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class Cause:
    """One possible cause: how to tell it from the others (commands, and what to look at), and what to change."""

    cause: str
    tell: tuple[str, ...]
    change: str


@dataclass(frozen=True, slots=True)
class Error:
    """A known error text; its causes are ordered, the most likely one first.

    `generic` texts only wrap another error, so that they count where nothing else of the pasted text is known.
    """

    key: str
    name: str | None
    title: str
    patterns: tuple[str, ...]
    generic: bool
    said: tuple[Said, ...]
    causes: tuple[Cause, ...]
    note: str | None
    see: tuple[str, ...]
    sources: tuple[str, ...]


@cache
def errors() -> tuple[Error, ...]:
    """Return every known error text, by key."""
    return tuple(
        Error(
            key=key,
            name=entry.get("name"),
            title=entry["title"],
            patterns=tuple(entry["patterns"]),
            generic=entry.get("generic", False),
            said=tuple(Said(said["text"], said["source"]) for said in entry["said"]),
            causes=tuple(Cause(cause["cause"], tuple(cause["tell"]), cause["change"]) for cause in entry["causes"]),
            note=entry.get("note"),
            see=tuple(entry.get("see", ())),
            sources=tuple(entry["sources"]),
        )
        for key, entry in entries("errors").items()
    )


def recognized(text: str) -> list[Error]:
    """Return the errors that a text holds: what names a cause first, and of those the longest text first."""
    plain = normalized(text)
    found = [(error, max(map(len, hits))) for error in errors() if (hits := _hits(error, plain))]
    return [error for error, _ in sorted(found, key=lambda item: (item[0].generic, -item[1]))]


def similar(text: str) -> list[Error]:
    """Return the few errors whose texts share the most telling words with a text, the nearest first."""
    asked = _words(text)
    if not asked:
        return []
    weights = _weights()
    heaviest = max(weights.values())
    whole = sum(weights.get(word, heaviest) for word in asked)
    shared = {error.key: asked & _vocabulary()[error.key] for error in errors()}
    shares = {
        key: sum(weights[word] for word in words) / whole
        for key, words in shared.items()
        if len(words) >= min(_ENOUGH_WORDS, len(asked))
    }
    near = [error for error in errors() if shares.get(error.key, 0) >= _ENOUGH]
    return sorted(near, key=lambda error: -shares[error.key])[:_FEW]


def normalized(text: str) -> str:
    """Return a text as patterns expect it: small letters, plain quotes without backslashes, single spaces."""
    plain = text[-_LONGEST:].translate(_QUOTES).replace('\\"', '"').replace("\\'", "'")
    return " ".join(plain.lower().split())


def _hits(error: Error, plain: str) -> list[str]:
    return [match[0] for pattern in error.patterns if (match := re.search(pattern, plain))]


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z][a-z0-9_.]{2,}|0x[0-9a-f]{3,}", normalized(text))) - _TELL_NOTHING


@cache
def _vocabulary() -> Mapping[str, frozenset[str]]:
    return {
        error.key: _words(" ".join([error.name or "", error.title, *(said.text for said in error.said)]))
        for error in errors()
    }


@cache
def _weights() -> Mapping[str, float]:
    """Return how much each word tells: the fewer errors have it, the more."""
    counts = Counter(word for words in _vocabulary().values() for word in words)
    return {word: math.log(1 + len(errors()) / count) for word, count in counts.items()}
