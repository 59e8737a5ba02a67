"""`lockstep show`: the derived plan, and why it is so."""

from __future__ import annotations

import argparse
import json

from lockstep.cli.command import Subparsers
from lockstep.cli.source import add_source, checked
from lockstep.fleet.plan import to_data
from lockstep.report.plan import show
from lockstep.report.table import columns


def add_parser(commands: Subparsers) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("show", help="show the plan: pools, handlers, classes, where each schedules, and why")
    add_source(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="json prints the whole plan as data")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the plan."""
    loaded = checked(options)
    if loaded.plan is None:
        return 1
    if options.format == "json":
        print(json.dumps(to_data(loaded.plan), indent=2))
    else:
        print(show(loaded.plan, loaded.hosts, columns()), end="")
    return 0
