"""The transaction's journal: what was there before, as a file on the node."""

from __future__ import annotations

import json
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.files import MIDDLE, NEW, Files

FOLDER = "C:\\ProgramData\\lockstep\\transactions"


@dataclass(slots=True)
class Step:
    """The former state of one thing that the transaction changes, with the keys of its kind.

    `touched` is not on the disk: steps found there are touched.
    """

    kind: str
    name: str
    state: dict[str, Any] = field(default_factory=dict)
    touched: bool = False


@dataclass(slots=True)
class Journal:
    """`applying`: not decided yet. `committed`: only files that are no longer needed are left to remove."""

    path: str = ""
    phase: str = "applying"
    time: str = ""
    steps: list[Step] = field(default_factory=list)

    def find(self, kind: str, name: str) -> Step | None:
        """Return the step about this thing; PowerShell compares names whatever their case."""
        return next((step for step in self.steps if step.kind == kind and step.name.lower() == name.lower()), None)


def journal_path(name: str) -> str:
    """Where the journal of a transaction is."""
    return f"{FOLDER}\\{name}.json"


def pending(files: Files, name: str) -> bool:
    """Whether a journal, or a half-written one, is left."""
    path = journal_path(name)
    return files.disk.exists(path) or files.disk.exists(path + NEW)


def read_journal(files: Files, path: str, kinds: Container[str]) -> Journal | None:
    """Return the journal that an interrupted apply left, with steps of these kinds.

    Raises OperationError where it cannot be understood.
    """
    files.take_back_exchange(path)
    data = files.read(path)
    if data is None:
        return None
    try:
        document = json.loads(data.decode("ascii"))
        steps = [Step(step.pop("kind"), step.pop("name"), step, touched=True) for step in document["steps"]]
        contract, phase, time = document["contract"], document["phase"], document["time"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OperationError("io", f"{path} cannot be understood ({error}): look at it and remove it.") from None
    if contract != 1 or not phase:
        message = f"{path} cannot be understood (it is of another contract): look at it and remove it."
        raise OperationError("io", message)
    strange = next((step.kind for step in steps if step.kind not in kinds), None)
    if strange is not None:
        message = f"{path} cannot be understood (no step is of kind {strange}): look at it and remove it."
        raise OperationError("io", message)
    return Journal(path, phase, time, steps)


def write_journal(files: Files, journal: Journal) -> None:
    """Put the journal on the disk, flushed and in one piece."""
    document = {
        "contract": 1,
        "phase": journal.phase,
        "time": journal.time,
        "steps": [{"kind": step.kind, "name": step.name, **step.state} for step in journal.steps],
    }
    files.write_beside(journal.path, json.dumps(document).encode("ascii"))
    files.move_over(journal.path + NEW, journal.path, journal.path + MIDDLE)
    files.remove(journal.path + MIDDLE)
