"""The steps from what a node has to what it is to have: fetched and kept first, then swapped while nothing runs it."""

from __future__ import annotations

import ntpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.artifacts.changes import Change, FileChange, changes
from lockstep.artifacts.observed import FOUND, Entry, Observed, ServiceSeen
from lockstep.artifacts.uses import runs
from lockstep.artifacts.wanted import Push, Wanted
from lockstep.catalog.versions import Version, VersionError
from lockstep.node.operations import (
    Operation,
    Program,
    add_to_store,
    check_program,
    entry_name,
    install_file,
    prune_store,
    restart_service,
    stop_service,
)

_CHECK_SECONDS = 60
"""How long a program may take to say its release: the first start of a program on Windows is scanned for viruses."""


@dataclass(frozen=True, slots=True)
class Task:
    """How a node's artifacts are kept.

    `keep` is how many earlier releases of each artifact stay in the store `root`; `backup` whether somebody else's file
    is kept there before it is replaced; `start` whether what was stopped is started again. `timeout` are the seconds
    that a service has, `download_timeout` those of a download. `health` has what a service has to answer once it runs
    again, by what it is.
    """

    root: str
    keep: int
    backup: bool
    timeout: int
    download_timeout: int
    health: Mapping[str, Operation]
    start: bool = True


@dataclass(frozen=True, slots=True)
class Planned:
    """One step of a change: what people call it, the operation, and the artifact that it is for, if it is for one."""

    label: str
    operation: Operation
    wanted: Wanted | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of each artifact, the steps in order, what is pushed before them, and the entries that go."""

    changes: tuple[Change, ...]
    steps: tuple[Planned, ...]
    uploads: tuple[Wanted, ...]
    pruned: tuple[str, ...]

    @property
    def undecided(self) -> tuple[Change, ...]:
        """The artifacts that are in place as nobody knows which release: only the download tells whether it differs."""
        return tuple(
            each
            for each in self.changes
            if each.fetch and any(file.foreign and file.after is None for file in each.files)
        )


def plan(observed: Observed, wanted: Sequence[Wanted], task: Task) -> Plan:
    """Return the plan; without steps where nothing differs."""
    found = changes(observed, wanted)
    pruned = tuple(_pruned(observed, found, task.keep))
    # What an earlier change left in the middle is settled by doing all of it again: what is right already stays.
    due = [(each, each.files if observed.pending else each.differing) for each in found]
    used = list(_used(observed, due))
    fetched = [each.wanted for each, files in due if each.fetch and files]
    steps = [
        *(_foreign(observed, found, task) if task.backup else ()),
        *(_fetch(each, task) for each in fetched),
        *(_keep(each, task) for each in found if _in_place_only(each) and each.wanted not in fetched),
        *(_stop(service, task) for _, service in reversed(used)),
        *(_install(each.wanted, file, task) for each, files in due for file in files),
        *(step for each, files in due for step in _says(each.wanted, files)),
        *(step for kind, service in used for step in _start(kind, service, task) if task.start),
    ]
    if pruned or observed.pending:
        label = "remove earlier releases from the store" if pruned else "remove what was left half done from the store"
        keep = [entry.entry for entry in observed.entries if entry.entry not in pruned]
        keep += [entry for entry in added(steps) if entry not in keep]
        steps.append(Planned(label, prune_store(task.root, keep)))
    return Plan(found, tuple(steps), tuple(each for each in fetched if isinstance(each.source, Push)), pruned)


def fetching(planned: Plan, task: Task) -> tuple[Planned, ...]:
    """Return the steps that only bring artifacts into the store: nothing can be decided without some of them."""
    fetched = [_fetch(each.wanted, task) for each in planned.undecided]
    return (*fetched, *(_keep(each, task) for each in planned.changes if _in_place_only(each)))


def added(steps: Sequence[Planned]) -> Iterator[str]:
    """Yield the names of the entries that these steps add to the store."""
    for step in steps:
        operation = step.operation
        if operation["op"] == "store.add":
            yield entry_name(operation["name"], operation["version"], operation["sha256"])


def _in_place_only(change: Change) -> bool:
    """Return whether a program is in place as it should be, and the store, which going back needs, lacks it."""
    return change.fetch and not change.differing and change.wanted.format == "file"


def _foreign(observed: Observed, found: Sequence[Change], task: Task) -> Iterator[Planned]:
    """Yield what keeps files that no release in the store has, before they are replaced."""
    kept = {digest for entry in observed.entries if entry.version == FOUND for digest in entry.files.values()}
    for change in found:
        for file in change.differing:
            if file.foreign and file.before is not None and file.before not in kept:
                operation = add_to_store(
                    task.root,
                    re.sub(r"[^a-z0-9]+", "-", ntpath.splitext(file.file.name)[0].lower()).strip("-"),
                    FOUND,
                    digest=file.before,
                    source={"path": file.file.path},
                    format="file",
                    members=[(file.file.name, file.file.name)],
                    timeout_seconds=task.download_timeout,
                )
                yield Planned(f"keep the {file.file.path} that is there in the store", operation, change.wanted)


def _fetch(wanted: Wanted, task: Task) -> Planned:
    return Planned(f"fetch {wanted}", _add(wanted, wanted.source.to_data(), task), wanted)


def _keep(change: Change, task: Task) -> Planned:
    [file] = change.files
    operation = _add(change.wanted, {"path": file.file.path}, task)
    return Planned(f"keep {change.wanted}, which is in place, in the store", operation, change.wanted)


def _add(wanted: Wanted, source: Mapping[str, Any], task: Task) -> Operation:
    return add_to_store(
        task.root,
        wanted.name,
        wanted.version,
        digest=wanted.digest,
        source=source,
        format=wanted.format,
        members=[(file.inside, file.name) for file in wanted.files],
        timeout_seconds=task.download_timeout,
    )


def _stop(service: ServiceSeen, task: Task) -> Planned:
    return Planned(f"stop service {service.name}", stop_service(service.name, timeout_seconds=task.timeout))


def _install(wanted: Wanted, change: FileChange, task: Task) -> Planned:
    file = change.file
    operation = install_file(file.path, task.root, wanted.entry, file.name, replaces=change.before)
    return Planned(f"install {file.path} of {wanted}", operation, wanted)


def _says(wanted: Wanted, files: Sequence[FileChange]) -> Iterator[Planned]:
    """Yield what has the program that tells its release do so, where it is among these files."""
    says = wanted.says
    if says is None:
        return
    path = next((each.file.path for each in files if each.file.name == says.file), None)
    if path is None:
        return
    operation = check_program(
        Program(path=path), says.arguments, must_contain=[says.text], timeout_seconds=_CHECK_SECONDS
    )
    yield Planned(f"have {says.file} say {says.text}", operation, wanted)


def _start(kind: str, service: ServiceSeen, task: Task) -> Iterator[Planned]:
    yield Planned(f"restart service {service.name}", restart_service(service.name, timeout_seconds=task.timeout))
    if kind in task.health:
        yield Planned(f"have {service.name} answer", task.health[kind])


def _used(observed: Observed, due: Sequence[tuple[Change, Sequence[FileChange]]]) -> Iterator[tuple[str, ServiceSeen]]:
    """Yield the services that run one of these files, in the order in which they start."""
    for kind, service in observed.services.items():
        ran = service.running or (observed.pending and service.automatic)
        if ran and any(runs(service, kind, change.wanted, file.file) for change, files in due for file in files):
            yield kind, service


def _pruned(observed: Observed, found: Sequence[Change], keep: int) -> Iterator[str]:
    """Yield the entries of artifacts that are asked for, beyond those in use, `keep` earlier ones and found files."""
    for change in found:
        wanted = change.wanted
        in_place = {file.before for file in change.files}
        earlier = [
            entry
            for entry in observed.entries
            if entry.name == wanted.name and entry.entry != wanted.entry and entry.version != FOUND
        ]
        # The one that is in place is what going back leads to, so it is the last to go.
        earlier.sort(key=lambda entry: (bool(in_place & set(entry.files.values())), _order(entry)), reverse=True)
        yield from (entry.entry for entry in earlier[keep:])


def _order(entry: Entry) -> tuple[bool, Version | None, str]:
    try:
        return (True, Version.parse(entry.version), entry.entry)
    except VersionError:
        return (False, None, entry.entry)
