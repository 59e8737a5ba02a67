"""`lockstep can-run`: whether one container runs on one host, why, and the nearest thing that works."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

from lockstep.catalog.compatibility import Combination, can_run
from lockstep.cli import words
from lockstep.cli.command import Subparsers
from lockstep.fleet.derivation.patches import patch_problem
from lockstep.report.table import columns
from lockstep.report.verdict import Warned, text, to_data


def add_parser(commands: Subparsers) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser(
        "can-run",
        help="say whether a container runs on a host, and what comes nearest",
        description="Whether a container of one Windows build runs on a host of another. Exit status 0: yes, 1: no.",
    )
    parser.add_argument("--guest", type=words.build, required=True, metavar="BUILD", help="the container's build")
    parser.add_argument("--host", type=words.build, required=True, metavar="BUILD", help="the node's build")
    parser.add_argument("--isolation", type=words.isolation, default="process", help="process (the default) or hyperv")
    parser.add_argument(
        "--containerd",
        type=words.containerd,
        default=words.newest_containerd(),
        metavar="VERSION",
        help="its full version, by default %(default)s",
    )
    parser.add_argument(
        "--pool-guest", type=words.build, metavar="BUILD", help="the build of the pool's pause image, if pinned"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the answer; the exit status is 1 where it is no."""
    verdict = can_run(options.host, options.guest, options.isolation, options.containerd, options.pool_guest)
    # Builds of one number are equal, and so a verdict may be another revision's: the answer is of what was typed.
    pinned = options.pool_guest if verdict.asked.pool_guest else None
    asked = Combination(options.host, options.guest, options.isolation, pinned)
    verdict = replace(verdict, asked=asked)
    warnings = _warnings(asked) if verdict.ok else ()
    if options.format == "json":
        print(json.dumps(to_data(verdict, options.containerd, warnings), indent=2))
    else:
        print(text(verdict, options.containerd, columns(), warnings), end="")
    return 0 if verdict.ok else 1


def _warnings(asked: Combination) -> tuple[Warned, ...]:
    """Return what the patches of guest and host warn of; a utility VM has the image's own, or the pause image's."""
    problem = patch_problem(asked.guest, asked.host) if asked.isolation == "process" else None
    if problem is None:
        return ()
    message = f"{problem.what} ({problem.hint})" if problem.hint else problem.what
    return (Warned(problem.rule, message, problem.fix),)
