"""What is known of a rule, a term or an error text, for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from lockstep.catalog.builds import Build
from lockstep.knowledge.errors import Cause, Error
from lockstep.knowledge.lookup import Found, NotFound
from lockstep.knowledge.rules import Page
from lockstep.knowledge.terms import Term

_INDENT = "    "
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def explain(found: Found, width: int) -> str:
    """Return what was found, in lines of at most `width` columns; examples keep their own lines."""
    if found.page:
        lines = list(_rule(found.page, width))
    elif found.term:
        lines = list(_term(found.term, width))
    else:
        lines = list(_held(found, width))
    return "\n".join(lines) + "\n"


def build(known: Build, width: int) -> str:
    """Return what the catalogue knows of a build that it lists."""
    facts = known.facts
    words = ", ".join(dict.fromkeys((*facts.words, facts.version))) if facts else ""
    lines = [*_wrapped(f"{known} ({words})" if words else str(known), width), ""]
    if facts:
        images = ", ".join(facts.base_images)
        said = {
            "label": f"node.kubernetes.io/windows-build={known.label}",
            "released": facts.released,
            "supported": f"until {facts.end}" if facts.end else None,
            "as a guest": f"base images {images}" if images else "no base image of it is published",
            "also": facts.on_client,
        }
        for name, value in said.items():
            if value:
                lines += _hanging(f"{name:<12}", str(value), width)
        lines += ["", *_wrapped("lockstep matrix shows what runs on it and where its containers run.", width)]
        lines += _sources((facts.source,), width)
    return "\n".join(lines) + "\n"


def unknown(asked: str, missing: NotFound, width: int) -> str:
    """Return what to say of a text that nothing is known of."""
    lines = _wrapped(f"Nothing is known of '{asked}'.", width)
    if missing.words:
        meant = " or ".join(f"'{word}'" for word in missing.words)
        lines += ["", *_wrapped(f"Did you mean {meant}?", width)]
    if missing.errors:
        lines += ["", "The nearest error texts:"]
        for error in missing.errors:
            lines += _wrapped(error.said[0].text, width, _INDENT)
    if not missing.words and not missing.errors:
        lines += ["", "Nothing is near."]
    lines += ["", *_wrapped("lockstep explain without a text lists everything that it knows.", width)]
    return "\n".join(lines) + "\n"


def listing(rules: Sequence[tuple[str, str]], terms: Sequence[Term], errors: Sequence[Error], width: int) -> str:
    """Return everything that can be explained: ids with their titles, terms, and errors with their titles."""
    lines = ["Findings"]
    for rule, title in rules:
        lines += _hanging(f"{rule}  ", title, width)
    lines += ["", "Terms", *_wrapped(", ".join(term.words[0] for term in terms), width), "", "Error texts"]
    for error in errors:
        lines += _hanging("- ", error.title, width)
    return "\n".join(lines) + "\n"


def _rule(page: Page, width: int) -> Iterator[str]:
    yield from _hanging(f"{page.rule}  ", page.title, width)
    yield ""
    yield from _markdown(page.meaning, width)
    for heading, section in (("In the cluster", page.cluster), ("Wrong", page.wrong), ("Right", page.right)):
        yield from ("", heading, "")
        yield from _markdown(section, width)
    yield from _sources(page.sources, width)


def _term(term: Term, width: int) -> Iterator[str]:
    also = f" ({', '.join(term.words[1:])})" if term.words[1:] else ""
    yield from _wrapped(f"{term.words[0]}{also}", width)
    yield ""
    yield from _markdown(term.text, width)
    if term.example:
        yield ""
        yield from textwrap.indent(term.example.rstrip("\n"), _INDENT).splitlines()
    yield from _see(term.see, width)
    yield from _sources(term.sources, width)


def _error(error: Error, width: int) -> Iterator[str]:
    yield from _hanging(f"{error.name}  ", error.title, width) if error.name else _wrapped(error.title, width)
    yield from ("", "Possible causes, the most likely first" if len(error.causes) > 1 else "Cause")
    for number, cause in enumerate(error.causes, 1):
        yield from _cause(number, cause, width)
    if error.note:
        yield ""
        yield from _wrapped(error.note, width)
    yield from _see(error.see, width)
    yield from _sources((*(said.source for said in error.said), *error.sources), width)


def _cause(number: int, cause: Cause, width: int) -> Iterator[str]:
    yield from _hanging(f"{number} ", cause.cause, width)
    for index, tell in enumerate(cause.tell):
        yield from _hanging("  to tell  " if index == 0 else "           ", tell, width)
    yield from _hanging("  change   ", cause.change, width)


def _held(found: Found, width: int) -> Iterator[str]:
    if found.errors:
        first, *others = found.errors
        yield from _error(first, width)
        yield from _also(others, width)
    if found.pages:
        yield from ("", "Findings that lead to it") if found.errors else ("Findings that lead to this text",)
        for page in found.pages:
            yield from _hanging(f"{page.rule}  ", page.title, width)
        yield from ("", *_wrapped(f"lockstep explain {found.pages[0].rule} shows what to change.", width))


def _also(others: Sequence[Error], width: int) -> Iterator[str]:
    specific = [error for error in others if not error.generic]
    if specific:
        yield from ("", "Also in this text")
        for error in specific:
            yield from _hanging("- ", f"{error.name}: {error.title}" if error.name else error.title, width)


def _see(see: Sequence[str], width: int) -> Iterator[str]:
    if see:
        yield ""
        yield from _wrapped(f"See lockstep explain {', '.join(see)}", width)


def _sources(sources: Sequence[str], width: int) -> Iterator[str]:
    if sources:
        yield from ("", "Sources")
        for source in dict.fromkeys(sources):
            yield from _hanging("- ", source, width)


def _markdown(text: str, width: int) -> Iterator[str]:
    """Yield Markdown as plain text: fenced text indented as it stands, paragraphs and lists wrapped."""
    position = 0
    blocks: list[list[str]] = []
    for match in [*_FENCE.finditer(text), None]:
        between = text[position : match.start() if match else len(text)]
        blocks += [_paragraph(part, width) for part in re.split(r"\n\s*\n", between) if part.strip()]
        if match:
            blocks.append([f"{_INDENT}{line}".rstrip() for line in match[0].splitlines()[1:-1]])
            position = match.end()
    for index, block in enumerate(blocks):
        if index:
            yield ""
        yield from block


def _paragraph(text: str, width: int) -> list[str]:
    items = re.split(r"\n(?=- )", text.strip())
    if items[0].startswith("- "):
        return [line for item in items for line in _hanging("- ", item[2:], width)]
    return _wrapped(text, width)


def _hanging(label: str, text: str, width: int) -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()),
        width,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_on_hyphens=False,
        break_long_words=False,
    )


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return _hanging(indent, text, width)
