"""What a node_artifacts task tells: each artifact, the steps, and the difference, file by file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lockstep.ansible.node import System, file_diff
from lockstep.artifacts.changes import Change, FileChange
from lockstep.artifacts.observed import Observed
from lockstep.artifacts.plan import Plan, Planned, added
from lockstep.artifacts.warnings import warnings


def result(
    system: System, observed: Observed, planned: Plan, root: str, done: Sequence[Planned] = ()
) -> dict[str, Any]:
    """Return what the task returns; `done` are steps that were done before what is observed was read."""
    steps = [*done, *planned.steps]
    operations = [step.operation for step in steps]
    return {
        "changed": bool(steps),
        "artifacts": [
            {
                "name": each.wanted.name,
                "version": each.wanted.version,
                "action": each.action,
                "from_version": each.from_version,
                "sha256": each.wanted.digest,
                "files": [file.path for file in each.wanted.files],
            }
            for each in planned.changes
        ],
        "steps": [step.label for step in steps],
        "restarted": [operation["name"] for operation in operations if operation["op"] == "service.restart"],
        "removed": list(planned.pruned),
        "store": root,
        "node": system.data(),
        "warnings": list(warnings(observed, planned.changes)),
        "diff": _diff(planned, observed, root, done),
    }


def _diff(planned: Plan, observed: Observed, root: str, done: Sequence[Planned]) -> list[dict[str, str]]:
    fetched = [step.wanted for step in done]
    entries = [
        file_diff(each.wanted.name, _before(each), _after(each, fetched=each.fetch or each.wanted in fetched))
        for each in planned.changes
        if each.differing
    ]
    new = set(added(done))
    before = sorted({entry.entry for entry in observed.entries} - new)
    after = sorted({*before, *new, *added(planned.steps)} - set(planned.pruned))
    if after != before:
        entries.append(file_diff(f"{root} (what the node keeps)", _lines(before), _lines(after)))
    return entries


def _before(change: Change) -> str:
    files = [file for file in change.files if file.before is not None]
    if not files:
        return ""
    return _lines([f"{change.wanted.name} {change.from_version or 'of an unknown release'}", *map(_was, files)])


def _was(file: FileChange) -> str:
    return f"{file.file.path}: {_short(file.before)}" + (" (of no release in the store)" if file.foreign else "")


def _after(change: Change, *, fetched: bool) -> str:
    files = [f"{file.file.path}: {_short(file.after)}" for file in change.files]
    source = [f"from {change.wanted.source}"] if fetched else ["from the node's store"]
    return _lines([str(change.wanted), f"sha256 {change.wanted.digest}", *source, *files])


def _short(digest: str | None) -> str:
    return f"sha256 {digest[:12]}" if digest else "as in the archive"


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
