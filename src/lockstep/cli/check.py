"""`lockstep check`: what is wrong with the description, and where."""

from __future__ import annotations

import argparse
import importlib
import sys

from lockstep.cli.command import Subparsers
from lockstep.cli.source import add_source, load
from lockstep.rules.checked import Checked, checked

_FORMATS = {"json": "as_json", "sarif": "sarif", "junit": "junit", "github": "github"}

EPILOG = """\
exit status: 0 no errors (warnings do not count); 1 errors; 2 what was named
cannot be read."""


def add_parser(commands: Subparsers) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser(
        "check",
        help="check the description; every finding names file, line and column",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_source(parser)
    parser.add_argument(
        "--format",
        choices=("text", *_FORMATS),
        default="text",
        help="text for people (the default); json; sarif for code hosts and editors; junit for build servers; "
        "github for annotations",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the findings; the exit status is 1 where one is an error."""
    found = checked(load(options))
    print(_rendered(found, options.format), end="")
    return 1 if found.errors else 0


def _rendered(found: Checked, form: str) -> str:
    if form == "text":
        from lockstep.report.findings import show  # noqa: PLC0415 - each format is loaded when it is asked for

        return show(found, stream=sys.stdout)
    return str(importlib.import_module(f"lockstep.report.formats.{_FORMATS[form]}").render(found))
