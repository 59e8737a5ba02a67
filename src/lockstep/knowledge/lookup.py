"""From what somebody typed or pasted to what is known of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lockstep.knowledge import errors, rules, terms
from lockstep.knowledge.errors import Error
from lockstep.knowledge.rules import Page
from lockstep.knowledge.terms import Term
from lockstep.words import nearest

_RULE = re.compile(r"LW\d+", re.IGNORECASE)
_FEW_WORDS = 4


@dataclass(frozen=True, slots=True)
class Found:
    """What a text means: a rule's page, a term, or error texts that it holds; exactly one of the three."""

    page: Page | None = None
    term: Term | None = None
    errors: tuple[Error, ...] = ()


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
    if known := errors.recognized(asked):
        return Found(errors=tuple(known))
    return NotFound(words=_near_terms(asked), errors=tuple(errors.similar(asked)))


def _near_terms(asked: str) -> tuple[str, ...]:
    names = [word for term in terms.terms() for word in term.words]
    parts = asked.split()
    if len(parts) > _FEW_WORDS:
        return ()
    found = [nearest(asked, names), *(nearest(part, names) for part in parts if len(part) > _FEW_WORDS - 1)]
    return tuple(dict.fromkeys(word for word in found if word))
