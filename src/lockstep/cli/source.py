"""Where a command's description comes from, the same for every command that reads one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lockstep.cli.command import InputError
from lockstep.fleet.load import Loaded
from lockstep.report.findings import report
from lockstep.rules.check import check


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name the description."""
    parser.add_argument("file", nargs="?", type=Path, help="a YAML file that holds the description")
    parser.add_argument(
        "-i", "--inventory", type=Path, metavar="PATH", help="an Ansible inventory whose group_vars hold it"
    )
    add_vault_password_file(parser)


def add_vault_password_file(parser: argparse.ArgumentParser) -> None:
    """Add the argument that opens an inventory's vaulted values."""
    parser.add_argument(
        "--vault-password-file", type=Path, metavar="FILE", help="for values in the inventory that are vaulted"
    )


def load(options: argparse.Namespace) -> Loaded:
    """Return the description with its findings and its plan.

    Raises InputError where none was named, or nothing is there that can be read.
    """
    if (options.file is None) == (options.inventory is None):
        raise InputError("name the description: a YAML file, or an inventory with -i")
    path: Path = options.file or options.inventory
    try:
        path.stat()
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    return check(path, vault_password_file=options.vault_password_file)


def checked(options: argparse.Namespace) -> Loaded:
    """Return the description as `load` does, after printing its findings to standard error."""
    loaded = load(options)
    if loaded.findings:
        print(report(loaded, stream=sys.stderr), end="", file=sys.stderr)
    return loaded
