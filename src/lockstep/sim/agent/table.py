"""What a group of operations registers: how each one is carried out, and what becomes of its steps in the journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lockstep.sim import windows
from lockstep.sim.agent.files import Files
from lockstep.sim.agent.journal import Journal, Step
from lockstep.sim.documents import write_json
from lockstep.sim.faults import Faults
from lockstep.sim.machine import Machine
from lockstep.sim.services import Services
from lockstep.sim.steps import Steps

Operation = Mapping[str, Any]
Result = dict[str, Any]


@dataclass(slots=True)
class Context:
    """The node that a request is about. `journal` is that of the apply."""

    machine: Machine
    services: Services
    files: Files
    faults: Faults
    steps: Steps
    journal: Journal = field(default_factory=Journal)

    def state(self, name: str) -> dict[str, Any]:
        """Return what the node keeps under a name beside its drives, `registry`; empty where it keeps nothing yet."""
        return windows.read(self.machine.folder, name)

    def keep(self, name: str, document: Mapping[str, Any], label: str) -> None:
        """Keep it; `label` tells of this step of the change. Raises PowerLost where the power is cut before it."""
        self.steps(label)
        write_json(self.machine.folder / f"{name}.json", document)


Read = Callable[[Context, Operation], Result]


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation that changes something.

    `former` gives the journal steps that hold what is to be put back; without it nothing is. `do` gets the first of
    them (the journal has the others), and sets `touched` before its first change: only what is touched is put back.
    `check` raises ContractError for a value that the contract forbids in words only. `after_commit`: it comes last in a
    request and is done once everything before it is committed; its failure takes nothing back.
    """

    do: Callable[[Context, Operation, Step], Result]
    former: Callable[[Context, Operation], list[Step]] | None = None
    check: Callable[[Operation], None] | None = None
    after_commit: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """What becomes of a kind of journal step. All but `renew` and `last` are safe to repeat.

    `undo` puts it back and returns the file that keeps rejected content, if any; after all others where `last` says so.
    `finish` clears away what is not needed once all is decided and returns the backups made. `resume` readies what an
    interrupted apply left, `admit` clears the way for a step that no journal spoke of. `renew` names what counts as the
    latest request has it although an interrupted one journaled the step.
    """

    undo: Callable[[Context, Step], str | None]
    finish: Callable[[Context, Step], list[str]] | None = None
    resume: Callable[[Context, Step], None] | None = None
    admit: Callable[[Context, Step], None] | None = None
    renew: tuple[str, ...] = ()
    last: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """The operations of one subject, and the kinds of journal steps that they have."""

    reads: Mapping[str, Read] = field(default_factory=dict)
    applies: Mapping[str, Apply] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
