"""The pages of rules: what a finding's id means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lockstep.knowledge.files import names, text

_ID = re.compile(r"LW[0-9]{3}")
_FENCE = re.compile(r"(?:^`(?P<file>[^`\n]+)`:\n+)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(
    r"# (?P<rule>LW\d{3}): (?P<title>[^\n]*)\n\n(?P<meaning>.*?)\n\nChecked in: (?P<checked>[^\n]*)\n", re.DOTALL
)
_ITEM = re.compile(r"^- (.*?)(?=\n- |\Z)", re.MULTILINE | re.DOTALL)
_SECTIONS = ("In the cluster", "Wrong", "Right", "Sources")


@dataclass(frozen=True, slots=True)
class Example:
    """One text of an example: the language of its fence, and the file's name where there are several."""

    kind: str
    text: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A rule's page. `checked` is what the rule looks at; the sections are Markdown without their headings."""

    rule: str
    title: str
    checked: str
    meaning: str
    cluster: str
    wrong: str
    right: str
    sources: tuple[str, ...]

    @property
    def examples(self) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
        """The texts of the wrong example and of the right one."""
        return tuple(_examples(self.wrong)), tuple(_examples(self.right))


def rules() -> list[str]:
    """Return every id that has a page, in order."""
    return names("rules", ".md")


def page(rule: str) -> Page | None:
    """Return the page of an id, in any letter case, or None. Raises ValueError for a page without its sections."""
    wanted = rule.strip().upper()
    if not _ID.fullmatch(wanted):
        return None
    try:
        return parse(text("rules", wanted, ".md"))
    except FileNotFoundError:
        return None


def parse(markdown: str) -> Page:
    """Return the page in a Markdown text: a heading `LWnnn: title`, `Checked in: ...`, and the four sections."""
    head, *parts = re.split(r"^## (.*)\n", markdown, flags=re.MULTILINE)
    sections = {title: body.strip() for title, body in zip(parts[::2], parts[1::2], strict=True)}
    match = _HEAD.match(head)
    if match is None or tuple(sections) != _SECTIONS:
        raise ValueError(
            f"a rule's page needs its heading, 'Checked in:' and {', '.join(_SECTIONS)}: {markdown[:40]!r}"
        )
    cluster, wrong, right, sources = sections.values()
    listed = tuple(" ".join(item.split()) for item in _ITEM.findall(sources))
    return Page(
        match["rule"], match["title"], match["checked"].strip(), match["meaning"], cluster, wrong, right, listed
    )


def _examples(section: str) -> Iterator[Example]:
    for match in _FENCE.finditer(section):
        yield Example(match["kind"], match["text"], match["file"])
