"""Arguments of the `lockstep` program; each command is a module of its own, imported when it is asked for."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from lockstep import __version__
from lockstep.cli.command import InputError

OK, FINDINGS, UNUSABLE = 0, 1, 2

COMMANDS = ("check", "show", "render", "verify", "node", "artifacts", "explain", "can-run", "matrix", "sim")

DESCRIPTION = """\
Windows Kubernetes nodes and their RuntimeClasses, from one description.

The description is `lockstep_fleet`, in an Ansible inventory's group_vars or in
a YAML file of its own."""

EPILOG = """\
exit status: 0 all is well; 1 something was found (errors, stale manifests, a
disagreement); 2 the command could not do its work."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 well, 1 findings, 2 the command could not do its work."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parsed(given)
    try:
        return int(options.run(options))
    except InputError as error:
        print(f"lockstep: {error}", file=sys.stderr)
        return UNUSABLE
    except BrokenPipeError:
        # The reader has enough (`lockstep show | head`); leave without Python's own complaint.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        return 130


def _parsed(given: Sequence[str]) -> argparse.Namespace:
    """Return the options; paths may stand between them, which argparse has no way to allow for in subcommands."""
    parser = _parser(given)
    options, left = parser.parse_known_args(given)
    paths = getattr(options, "paths", None)
    if left and (not isinstance(paths, list) or any(text.startswith("-") and text != "-" for text in left)):
        parser.error(f"unrecognized arguments: {' '.join(left)}")
    if left:
        options.paths = [*(paths or ()), *map(Path, left)]
    return options


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lockstep",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"lockstep {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    # Importing every command costs more than running most of them.
    asked = [name for name in COMMANDS if given[:1] == [name]]
    for name in asked or COMMANDS:
        module = name.replace("-", "_")
        importlib.import_module(f"lockstep.cli.{module}").add_parser(commands)
    return parser
