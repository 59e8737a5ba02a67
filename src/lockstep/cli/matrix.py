"""`lockstep matrix`: which container runs on which host, of the catalogue or of a fleet."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping

from lockstep.cli import words
from lockstep.cli.command import InputError, Subparsers
from lockstep.cli.source import add_source, checked
from lockstep.report.matrix.grid import ISOLATIONS, Grid, of_catalogue, of_fleet, to_data
from lockstep.report.matrix.picture import html, svg
from lockstep.report.matrix.text import markdown, text
from lockstep.report.table import columns

_FORMATS: Mapping[str, Callable[[Grid], str]] = {
    "text": lambda grid: text(grid, columns()),
    "markdown": markdown,
    "json": lambda grid: json.dumps(to_data(grid), indent=2) + "\n",
    "svg": svg,
    "html": html,
}


def add_parser(commands: Subparsers) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser(
        "matrix",
        help="show which container runs on which host",
        description="Which container runs on which host, of the catalogue or of a fleet's classes and pools.",
    )
    add_source(parser)
    parser.add_argument(
        "--containerd",
        type=words.containerd,
        metavar="VERSION",
        help=f"its full version, by default {words.newest_containerd()}; a fleet has its own",
    )
    parser.add_argument("--isolation", type=words.isolation, help="process or hyperv; both by default")
    parser.add_argument("--all", action="store_true", help="every build, not only long-term releases of Windows Server")
    parser.add_argument("--format", choices=tuple(_FORMATS), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the grid."""
    isolations = (options.isolation,) if options.isolation else ISOLATIONS
    if options.file is None and options.inventory is None:
        grid = of_catalogue(options.containerd or words.newest_containerd(), isolations, every=options.all)
    elif options.containerd or options.all:
        raise InputError("--containerd and --all belong to the catalogue's matrix: a fleet says its own")
    else:
        loaded = checked(options)
        if loaded.plan is None:
            return 1
        grid = of_fleet(loaded.plan, isolations)
    sys.stdout.write(_FORMATS[options.format](grid))
    return 0
