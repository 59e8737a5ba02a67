"""Terms: the field's words and the project's own, each with what it means here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lockstep.knowledge.files import entries


@dataclass(frozen=True, slots=True)
class Term:
    """A term; `words` are all that it is called by, the first one is its name. `text` is paragraphs."""

    words: tuple[str, ...]
    text: str
    example: str | None
    see: tuple[str, ...]
    sources: tuple[str, ...]


@cache
def terms() -> tuple[Term, ...]:
    """Return every term, by name."""
    found = (
        Term(
            tuple(entry["words"]),
            entry["text"].strip(),
            entry.get("example"),
            tuple(entry.get("see", ())),
            tuple(entry.get("sources", ())),
        )
        for entry in entries("terms").values()
    )
    return tuple(sorted(found, key=lambda term: term.words[0].lower()))


def term(word: str) -> Term | None:
    """Return the term that a word means, in any letter case, with spaces or dashes, or None."""
    return _by_word().get(_plain(word))


@cache
def _by_word() -> dict[str, Term]:
    return {_plain(word): found for found in terms() for word in found.words}


def _plain(word: str) -> str:
    return " ".join(word.lower().replace("-", " ").replace("_", " ").split())
