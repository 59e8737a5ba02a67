"""`lockstep render`: write the manifests, or say which are stale."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

from lockstep.cli.command import InputError, Subparsers
from lockstep.cli.source import add_source, checked
from lockstep.gitops.folder import Change, FolderError, differences, handler_changes, write
from lockstep.runtimeclass.render import KUSTOMIZATION, render


def add_parser(commands: Subparsers) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("render", help="write the RuntimeClass manifests, or check that they are current")
    add_source(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="a folder for one file a class and a kustomization.yaml"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; show what differs in DIR, and exit with 1 if anything does"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Render to standard output, into a folder, or compare with a folder."""
    if options.check and options.output is None:
        raise InputError("--check compares with a folder: name it with -o DIR")
    loaded = checked(options)
    if loaded.plan is None:
        return 1
    manifests = render(loaded.plan)
    if options.output is None:
        documents = (text for name, text in manifests.items() if name != KUSTOMIZATION)
        sys.stdout.write("".join(f"---\n{text}" for text in documents))
        return 0
    folder: Path = options.output
    try:
        changes = differences(folder, manifests)
        if options.check:
            return _compare(folder, changes, len(manifests))
        write(folder, changes)
    except FolderError as error:
        raise InputError(str(error)) from error
    for change in changes:
        print(f"{'removed' if change.after is None else 'wrote'} {folder / change.name}")
    print(f"{len(manifests)} files in {folder}, {len(changes)} changed.")
    _warn_of_handlers(changes)
    return 0


def _warn_of_handlers(changes: list[Change]) -> None:
    if names := handler_changes(changes):
        print(
            f"The handler of a RuntimeClass cannot be edited in a cluster: {', '.join(names)}\n"
            "must be replaced (kubectl replace --force; Argo CD: sync option Replace=true,\n"
            "Force=true; Flux: kustomize.toolkit.fluxcd.io/force: enabled)."
        )


def _compare(folder: Path, changes: list[Change], rendered: int) -> int:
    for change in changes:
        if change.before is None:
            print(f"missing: {folder / change.name}")
        elif change.after is None:
            print(f"no longer described: {folder / change.name}")
        else:
            print(f"stale: {folder / change.name}", *_differing_lines(change.before, change.after), sep="\n")
    if not changes:
        print(f"{rendered} files in {folder} are current.")
        return 0
    _warn_of_handlers(changes)
    removed = sum(change.after is None for change in changes)
    print(f"{len(changes)} of {rendered + removed} files differ from the description. Run lockstep render and commit.")
    return 1


def _differing_lines(before: str, after: str) -> Iterator[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return (line for line in list(lines)[2:] if not line.startswith("@@"))
