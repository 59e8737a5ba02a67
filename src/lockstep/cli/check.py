"""`lockstep check`: what is wrong with the description and with files that people already have, and where."""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lockstep.cli.command import InputError, Subparsers
from lockstep.cli.source import add_vault_password_file
from lockstep.finding import Severity

if TYPE_CHECKING:
    from lockstep.catalog.builds import Build
    from lockstep.rules.checked import Checked

_FORMATS = {"json": "as_json", "sarif": "sarif", "junit": "junit", "github": "github"}

DESCRIPTION = """\
What is wrong, where it is written, and what to do: in the description, and in
files that people already have, alone or together.

  lockstep check -i inventories/prod
  lockstep check config.toml --containerd 2.3.4 --host ltsc2025
  lockstep check kubelet.yaml --kubernetes 1.36.1
  helm template . | lockstep check -
  lockstep check -i inventories/prod clusters/prod/runtimeclasses

What a file is, is told by its content: a description (or an inventory), a
containerd config.toml, a KubeletConfiguration, RuntimeClasses among other
objects; a folder is searched for them. Releases that are not named are taken
from the description where it has one for all pools.

A comment silences a finding in its line, or in the next one, with a reason:
  # lockstep: ignore LW417 because the vendor's containerd selects by handler
  # lockstep: severity LW417=warning because ...   (in the whole file)"""

EPILOG = """\
exit status: 0 no errors (warnings do not count); 1 errors; 2 what was named
is not there, or an argument is wrong."""


def add_parser(commands: Subparsers) -> None:
    """Add the command's arguments."""
    parser = commands.add_parser(
        "check",
        help="check the description, and config.toml, kubelet's or RuntimeClass files; findings name their place",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="files and folders; - is standard input")
    parser.add_argument("-i", "--inventory", type=Path, metavar="PATH", help="an inventory that describes the fleet")
    add_vault_password_file(parser)
    parser.add_argument(
        "--containerd", type=_containerd, metavar="VERSION", help="the containerd that reads config.toml: 2.3.4"
    )
    parser.add_argument("--kubernetes", type=_kubernetes, metavar="VERSION", help="kubelet's release: 1.36.1")
    parser.add_argument("--host", type=_host, metavar="BUILD", help="the node's Windows: ltsc2025, 26100, 10.0.26100")
    parser.add_argument("--command-line", metavar="TEXT", help="kubelet's service, as sc.exe qc kubelet prints it")
    parser.add_argument(
        "--severity",
        action="append",
        default=[],
        type=_severity,
        metavar="RULE=WORD",
        help="weigh a rule as error, warning or ignore: LW417=warning; may be given several times",
    )
    parser.add_argument(
        "--format",
        choices=("text", *_FORMATS),
        default="text",
        help="text for people (the default); json; sarif for code hosts and editors; junit for build servers; "
        "github for annotations",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="put right what is certain (values without doubt about what was meant), and check again",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the findings; the exit status is 1 where one is an error."""
    from lockstep.rules.everything import Inputs, check_all  # noqa: PLC0415 - a quarter of a second that others need not wait
    from lockstep.rules.given.context import Context  # noqa: PLC0415
    from lockstep.rules.given.read import STANDARD_INPUT, GivenError  # noqa: PLC0415

    paths: list[Path] = options.paths
    if not paths and options.inventory is None and options.command_line is None:
        raise InputError("name the description (a YAML file, or an inventory with -i), or other files to check")
    if options.inventory is not None and not options.inventory.exists():
        raise InputError(f"{options.inventory} does not exist")
    standard_input = sys.stdin.buffer.read() if Path(STANDARD_INPUT) in paths else None
    inputs = Inputs(
        tuple(paths),
        standard_input,
        options.inventory,
        options.vault_password_file,
        options.command_line,
        Context(options.containerd, options.kubernetes, options.host),
        dict(options.severity),
    )
    try:
        found = check_all(inputs)
        if options.fix:
            made = _fix(found)
            found = check_all(inputs) if made else found
            left = len(found.findings)
            print(f"{made} fixed, {left} {'needs' if left == 1 else 'need'} a person", file=sys.stderr)
    except GivenError as error:
        raise InputError(str(error)) from None
    print(_rendered(found, options.format), end="")
    return 1 if found.errors else 0


def _fix(found: Checked) -> int:
    """Write the files that have certain fixes; say to standard error which, and return how many fixes there were."""
    from lockstep.rules.fixes import fixed  # noqa: PLC0415
    from lockstep.rules.given.write import write  # noqa: PLC0415

    on_disk = {file: text for file, text in found.sources.items() if Path(file).is_file()}
    changed = fixed(found.findings, on_disk)
    for file, (text, count) in changed.items():
        write(file, on_disk[file], text)
        print(f"{file}: {count} fixed", file=sys.stderr)
    return sum(count for _, count in changed.values())


def _rendered(found: Checked, form: str) -> str:
    if form == "text":
        from lockstep.report.findings import show  # noqa: PLC0415 - each format is loaded when it is asked for

        return show(found, stream=sys.stdout)
    return str(importlib.import_module(f"lockstep.report.formats.{_FORMATS[form]}").render(found))


def _severity(text: str) -> tuple[str, Severity | None]:
    match = re.fullmatch(r"(LW\d{3})=(error|warning|ignore)", text, re.IGNORECASE)
    if match is None:
        raise argparse.ArgumentTypeError(f"'{text}': expected a rule and error, warning or ignore: LW417=warning")
    from lockstep.knowledge.files import names  # noqa: PLC0415 - most checks weigh nothing

    if match[1].upper() not in names("rules", ".md"):
        raise argparse.ArgumentTypeError(f"there is no rule {match[1].upper()}")
    word = match[2].lower()
    return match[1].upper(), None if word == "ignore" else Severity(word)


def _containerd(text: str) -> str:
    from lockstep.cli import words  # noqa: PLC0415 - the catalogue is loaded where an argument needs it

    return words.containerd(text)


def _host(text: str) -> Build:
    from lockstep.cli import words  # noqa: PLC0415

    return words.build(text)


def _kubernetes(text: str) -> str:
    from lockstep.catalog.kubernetes import UnknownMinor, minor  # noqa: PLC0415

    try:
        minor(text)
    except UnknownMinor as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
