"""`lockstep check`: what is wrong with the description, and where."""

from __future__ import annotations

import argparse
import sys

from lockstep.cli.source import Subparsers, add_source, load
from lockstep.report.findings import report


def add_parser(commands: Subparsers) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("check", help="check the description; every finding names file, line and column")
    add_source(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the findings; the exit status is 1 where one is an error."""
    loaded = load(options)
    print(report(loaded, stream=sys.stdout), end="")
    return 1 if loaded.failed else 0
