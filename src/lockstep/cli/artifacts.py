"""`lockstep artifacts`: the SHA-256 of the releases that nodes are made of, as a list to commit."""

from __future__ import annotations

import argparse
import hashlib
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockstep.artifacts.pins import Pin, PinsError, pins_text, read_pins
from lockstep.artifacts.sums import SumsError, digest_in, sums_problem
from lockstep.artifacts.web import WebError, fetch
from lockstep.catalog.artifacts import known_artifacts
from lockstep.cli.artifacts_asked import VARIABLES, Asked, Release, asked, file_of
from lockstep.cli.command import InputError, Subparsers
from lockstep.cli.source import add_source, checked
from lockstep.fleet.inventory.variables import variables_of
from lockstep.report.table import columns
from lockstep.words import nearest

_DESCRIPTION = """\
Print the SHA-256 of every release that the nodes of a description need, as its
project publishes it over https, or of files that are there (--from): a list to
commit beside the inventory. With it nodes are provisioned without asking
anybody for checksums, also where there is no internet. Which releases these
are, and the mirror, the inventory's variables say as they do for the role:
artifacts_crictl_version and its like, artifacts_extra, artifacts_mirror.

Releases that are pinned in the file already (-o) stay as they are; one whose
published checksum is another now is refused."""


@dataclass(frozen=True, slots=True)
class _Failed:
    what: str
    why: str


def add_parser(commands: Subparsers) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser(
        "artifacts",
        help="print the SHA-256 of the releases that nodes need, as a list to commit",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_source(parser)
    parser.add_argument(
        "--artifact",
        action="append",
        default=[],
        type=_named,
        metavar="NAME[=VERSION]",
        help="this one too, or in another version than the description's; can be given several times",
    )
    parser.add_argument(
        "--from", dest="folder", type=Path, metavar="FOLDER", help="take the SHA-256 of the files there, asking nobody"
    )
    parser.add_argument(
        "--mirror",
        metavar="URL",
        help="take published checksums from a mirror of the releases; "
        "the inventory's artifacts_mirror if not given, '' for the projects themselves",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the list there, completing what is in it"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print or write the list; the exit status is 1 where the SHA-256 of a release is not to be had."""
    if options.mirror and (problem := sums_problem(options.mirror)):
        raise InputError(f"--mirror {options.mirror}: {problem}")
    if options.folder and not options.folder.is_dir():
        raise InputError(f"--from {options.folder}: there is no such folder")
    wanted = _asked(options)
    if wanted is None:
        return 1
    pins = _known(options.output)
    before = len(pins)
    failed = list(_pinned(wanted.ordered(), pins, options))
    text = pins_text(list(pins.values()), known_artifacts())
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text, encoding="utf-8")
        print(f"{options.output}: {_counted(len(pins), 'release')}, {len(pins) - before} of them new")
    elif pins:
        print(text, end="")
    for text in (*wanted.notes, *wanted.problems, *(f"{each.what}: {each.why}" for each in failed)):
        print(_wrapped(f"lockstep: {text}"), file=sys.stderr)
    return 1 if failed or wanted.problems else 0


def _named(text: str) -> tuple[str, str]:
    name, _, version = text.partition("=")
    if name not in known_artifacts():
        near = nearest(name, known_artifacts())
        meant = f"did you mean '{near}'?" if near else f"known are {', '.join(known_artifacts())}"
        raise argparse.ArgumentTypeError(f"there is no artifact '{name}'; {meant}")
    return name, version.removeprefix("v")


def _asked(options: argparse.Namespace) -> Asked | None:
    """Return the releases that are asked for; None where the description cannot be planned."""
    named = dict(options.artifact)
    if not options.file and not options.inventory:
        if not named:
            raise InputError(
                "name the description (a YAML file, or an inventory with -i), or an artifact with --artifact"
            )
        return asked(None, {}, {}, named, options.mirror)
    loaded = checked(options)
    if loaded.plan is None:
        return None
    path, vault = options.inventory, options.vault_password_file
    variables = variables_of(path, VARIABLES, vault) if path and loaded.hosts else {}
    return asked(loaded.plan, loaded.hosts, variables, named, options.mirror)


def _known(output: Path | None) -> dict[tuple[str, str], Pin]:
    if output is None or not output.exists():
        return {}
    try:
        return read_pins(output.read_bytes())
    except PinsError as error:
        raise InputError(f"{output}: {error}") from error
    except OSError as error:
        raise InputError(f"{output} cannot be read: {(error.strerror or str(error)).lower()}") from None


def _pinned(
    releases: Sequence[Release], pins: dict[tuple[str, str], Pin], options: argparse.Namespace
) -> Iterator[_Failed]:
    """Add a pin for each release, and yield those for which there is none or another one."""
    for release in releases:
        what = str(release)
        try:
            pin = _from_folder(release, options.folder) if options.folder else _published(release)
        except (WebError, SumsError, OSError) as error:
            yield _Failed(what, str(error))
            continue
        known = pins.setdefault((release.name, release.version), pin)
        if known.digest != pin.digest:
            yield _Failed(
                what,
                f"it is pinned as {known.digest}, but {pin.source} says {pin.digest}: somebody replaced it. "
                "If you know who, remove its line and run again",
            )


def _published(release: Release) -> Pin:
    if release.sums is None:
        raise SumsError(f"its project publishes none; get {release.url} and give its folder with --from")
    digest = digest_in(fetch(release.sums), file_of(release)[1], release.form)
    return Pin(release.name, release.version, digest, release.sums)


def _from_folder(release: Release, folder: Path) -> Pin:
    """Return the pin of a file that is there under its path at the project, or by its name alone."""
    below, name = file_of(release)
    found = next((each for each in (folder / below, folder / name) if each.is_file()), None)
    if found is None:
        raise SumsError(f"neither {folder / below} nor {folder / name} is there")
    with found.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Pin(release.name, release.version, digest, f"of the file {found}")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, columns(), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
