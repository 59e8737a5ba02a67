"""The check of all that was given: a description, files that people already have, and all of it together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lockstep.finding import Severity
from lockstep.fleet.load import Loaded, order
from lockstep.rules import check
from lockstep.rules.checked import Checked, checked
from lockstep.rules.given.context import Context
from lockstep.rules.given.kinds import Kind, kind_of
from lockstep.rules.given.read import Given, GivenError, read
from lockstep.rules.suppressions import Weights, applied


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a check is given: paths, standard input where one of them is `-`, an inventory, and what was said.

    `weights` has what rules weigh other than of themselves.
    """

    paths: tuple[Path, ...] = ()
    standard_input: bytes | None = None
    inventory: Path | None = None
    vault_password_file: Path | None = None
    command_line: str | None = None
    context: Context = field(default_factory=Context)
    weights: Weights = field(default_factory=dict)


def check_all(inputs: Inputs) -> Checked:
    """Return everything that is wrong with what was given.

    Raises GivenError for a path that does not exist, and for folders in which nothing can be checked.
    """
    files = read(inputs.paths, inputs.standard_input)
    described, others = _sorted(files.files)
    loaded = [
        check.check(path, vault_password_file=inputs.vault_password_file)
        for path in (*([inputs.inventory] if inputs.inventory else []), *files.inventories)
    ]
    loaded += [_description(given, inputs.vault_password_file) for given in described]
    parts = [*map(checked, loaded), Checked(files.findings)]
    if others or inputs.command_line is not None:
        from lockstep.rules.beside import judge  # noqa: PLC0415 - a description alone needs none of the rules over files

        parts.append(judge(others, inputs.command_line, inputs.context, loaded))
    if not loaded and not any(part.findings or part.subjects for part in parts):
        raise GivenError(_nothing(inputs.paths, [note for part in parts for note in part.notes]))
    firm = [finding for one in loaded for finding in one.findings if finding.severity is Severity.ERROR]
    found = applied(_joined(parts), firm, inputs.weights)
    return replace(found, findings=tuple(sorted(found.findings, key=order)))


def _nothing(paths: Iterable[Path], notes: Sequence[str]) -> str:
    return "; ".join((f"nothing to check was found in {', '.join(map(str, paths))}", *notes))


def _sorted(files: Iterable[Given]) -> tuple[list[Given], list[tuple[Given, Kind]]]:
    """Return the files that hold a description, and the others with what they are."""
    described: list[Given] = []
    others: list[tuple[Given, Kind]] = []
    for given in files:
        kind = kind_of(given.content.decode("utf-8-sig", "replace"), given.file, found=given.found)
        if kind is Kind.DESCRIPTION and not given.found:
            described.append(given)
        else:
            others.append((given, Kind.UNKNOWN if kind is Kind.DESCRIPTION else kind))
    return described, others


def _description(given: Given, vault_password_file: Path | None) -> Loaded:
    if given.path is not None and given.path.is_file():
        return check.check(given.path, vault_password_file=vault_password_file)
    return check.check_content(given.content, given.file)


def _joined(parts: Sequence[Checked]) -> Checked:
    findings = {finding: None for part in parts for finding in part.findings}
    return Checked(
        findings=tuple(findings),
        sources={file: text for part in parts for file, text in part.sources.items()},
        unsure=frozenset().union(*(part.unsure for part in parts)),
        notes=tuple(note for part in parts for note in part.notes),
        pools=sum(part.pools for part in parts),
        classes=sum(part.classes for part in parts),
    )
