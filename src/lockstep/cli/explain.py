"""`lockstep explain`: what a finding's id, a term or an error text from a cluster means, and what to do."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from lockstep.cli.command import InputError, Subparsers

if TYPE_CHECKING:
    from lockstep.catalog.builds import Build

_LONGEST_NAME = 120
"""Characters of the longest text that can be a build's name or an image's."""

DESCRIPTION = """\
What a finding's id, a term, a build or an error text means, and what to do about it.

  lockstep explain LW210
  lockstep explain handler
  lockstep explain ltsc2022
  lockstep explain 'hcs::CreateComputeSystem 4f: 0xc0370101'
  kubectl describe pod web-0 | lockstep explain -

Without a text it lists everything that it knows. Exit status 1: nothing is
known of the text, and the nearest is shown."""


def add_parser(commands: Subparsers) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser(
        "explain",
        help="explain a finding's id, a term, or an error text pasted from a cluster",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("text", nargs="*", help="an id, a term or an error text; - reads standard input")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what is known; the exit status is 1 where nothing is."""
    # Other commands' help is shown without the knowledge.
    from lockstep.knowledge import errors, rules, terms  # noqa: PLC0415
    from lockstep.knowledge.lookup import NotFound, lookup  # noqa: PLC0415
    from lockstep.report import explain  # noqa: PLC0415
    from lockstep.report.table import columns  # noqa: PLC0415
    from lockstep.words import shortened  # noqa: PLC0415

    if not options.text:
        titles = [(page.rule, page.title) for page in map(rules.page, rules.rules()) if page]
        print(explain.listing(titles, terms.terms(), errors.errors(), columns()), end="")
        return 0
    asked = _standard_input() if options.text == ["-"] else " ".join(options.text)
    if not asked.strip():
        raise InputError("the text to explain is empty")
    found = lookup(asked)
    if isinstance(found, NotFound):
        if known := _build(asked):
            print(explain.build(known, columns()), end="")
            return 0
        print(explain.unknown(shortened(asked.strip()), found, columns()), end="")
        return 1
    print(explain.explain(found, columns()), end="")
    return 0


def _build(asked: str) -> Build | None:
    """Return the build of the catalogue that a short text means, or None."""
    from lockstep.cli.words import build  # noqa: PLC0415 - the catalogue is read only for a text that nothing else knows

    if len(asked) > _LONGEST_NAME:
        return None
    try:
        found = build(asked)
    except argparse.ArgumentTypeError:
        return None
    return found if found.facts else None


def _standard_input() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")
