"""From what somebody typed or pasted to what is known of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from lockstep.knowledge import errors, rules, said, terms
from lockstep.knowledge.errors import Error
from lockstep.knowledge.rules import Page
from lockstep.knowledge.terms import Term
from lockstep.words import nearest

_RULE = re.compile(r"LW\d+", re.IGNORECASE)
_FEW_WORDS = 4
_ALIKE = 0.75
"""How alike a term and a word are, of 1, for one to be a slip of the pen for the other."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a text means: a rule's page, a term, or what it holds: error texts, and lines of rules' pages."""

    page: Page | None = None
    term: Term | None = None
    errors: tuple[Error, ...] = ()
    pages: tuple[Page, ...] = ()


@dataclass(frozen=True, slots=True)
class NotFound:
    """A text that nothing is known of, and what comes nearest: ids, terms, and error texts."""

    words: tuple[str, ...] = ()
    errors: tuple[Error, ...] = ()


def lookup(text: str) -> Found | NotFound:
    """Return what is known of a text, or what comes nearest."""
    asked = text.strip()
    if _RULE.fullmatch(asked):
        page = rules.page(asked)
        near = nearest(asked.upper(), rules.rules())
        return Found(page=page) if page else NotFound(words=(near,) if near else ())
    if term := terms.term(asked):
        return Found(term=term)
    known = tuple(errors.recognized(asked))
    pages = tuple(page for rule in said.rules_that_say(asked) if (page := rules.page(rule)))
    if len(pages) == 1 and not known:
        return Found(page=pages[0])
    if known or pages:
        return Found(errors=known, pages=pages)
    return NotFound(words=_near_terms(asked), errors=tuple(errors.similar(asked)))


def _near_terms(asked: str) -> tuple[str, ...]:
    names = [word for term in terms.terms() for word in term.words]
    parts = asked.split()
    if len(parts) > _FEW_WORDS:
        return ()
    found = [nearest(asked, names), *(nearest(part, names) for part in parts if len(part) > _FEW_WORDS - 1)]
    return tuple(dict.fromkeys(word for word in found if word and _alike(word, (asked, *parts))))


def _alike(word: str, asked: Sequence[str]) -> bool:
    return any(SequenceMatcher(None, word.lower(), one.lower()).ratio() >= _ALIKE for one in asked)
