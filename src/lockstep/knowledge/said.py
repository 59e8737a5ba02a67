"""What rules' pages say that is seen in a cluster, recognized in whatever was pasted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from lockstep.knowledge.errors import normalized
from lockstep.knowledge.files import text
from lockstep.knowledge.rules import rules

_SECTION = re.compile(r"^## In the cluster\n(.*?)^## ", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARIABLE = re.compile(r"\.\.\.|\"[^\"]*\"|(?<![\w'])'[^' ]*'(?!\w)|`[^`]*`|[\[{][^\]}]*[\]}]|(?<![\w.])\d+(?![\w.])")
"""What is another in another cluster: what is left out, and names, lists and numbers."""
_ANYTHING = r".{0,300}?"
_FEWEST_LETTERS = 12
"""Letters of a line beside what varies, below which it would be found in everything."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a rule's page: as it stands, its longest part that never varies, and the pattern of the whole."""

    rule: str
    plain: str
    fixed: str
    pattern: str


def rules_that_say(pasted: str) -> list[str]:
    """Return the rules whose pages have a line that a text holds: those with its very words first, then by id."""
    plain = normalized(pasted)
    exact: dict[str, bool] = {}
    for line in lines():
        verbatim = line.plain in plain
        if verbatim or (line.fixed in plain and re.search(line.pattern, plain)):
            exact[line.rule] = exact.get(line.rule, False) or verbatim
    return sorted(exact, key=lambda rule: (not exact[rule], rule))


@cache
def lines() -> tuple[Line, ...]:
    """Return every line that stands fenced under 'In the cluster', by rule."""
    return tuple(_line(rule, plain) for rule in rules() for plain in _said(text("rules", rule, ".md")))


def _said(page: str) -> Iterator[str]:
    section = _SECTION.search(page)
    for block in _FENCED.findall(section[1]) if section else ():
        yield from filter(None, map(normalized, block.splitlines()))


def _line(rule: str, plain: str) -> Line:
    fixed = _VARIABLE.split(plain)
    if sum(map(len, fixed)) < _FEWEST_LETTERS:
        fixed = [plain]
    return Line(rule, plain, max(fixed, key=len), _ANYTHING.join(map(re.escape, fixed)))
