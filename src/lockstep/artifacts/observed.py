"""What a node has: its store of artifacts, the files in their places, and the services that run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lockstep.artifacts.wanted import Wanted
from lockstep.node.operations import Operation, Result, digest_file, read_service, read_store, read_transaction

TRANSACTION = "artifacts"
FOUND = "found"
"""The version under which the store keeps a file that somebody else put where an artifact's belongs."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An artifact that the store has whole; `files` has the SHA-256 of each by name."""

    entry: str
    name: str
    version: str
    digest: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ServiceSeen:
    """A service that runs artifacts. `automatic`: Windows starts it at the boot."""

    name: str
    exists: bool
    running: bool = False
    automatic: bool = False
    command_line: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """What one read showed: SHA-256 by full path (None: no file there), services by what they are.

    `uploads` has the bytes that are there of what is being pushed, by its SHA-256. `pending` says that an earlier
    change was cut short.
    """

    entries: tuple[Entry, ...]
    uploads: Mapping[str, int]
    digests: Mapping[str, str | None]
    services: Mapping[str, ServiceSeen]
    pending: bool

    def entry(self, wanted: Wanted) -> Entry | None:
        """Return the store's entry of what is wanted, if it is there and has every file."""
        names = {file.name for file in wanted.files}
        return next((each for each in self.entries if each.entry == wanted.entry and names <= set(each.files)), None)

    def in_place(self, wanted: Wanted) -> Entry | None:
        """Return the store's entry of this release, whatever its SHA-256, if every file in place is that entry's."""
        return next(
            (
                each
                for each in self.entries
                if (each.name, each.version) == (wanted.name, wanted.version)
                and all(each.files.get(file.name, "") == self.digests[file.path] for file in wanted.files)
            ),
            None,
        )

    def owner(self, file: str, digest: str) -> Entry | None:
        """Return the entry whose file of this name has this SHA-256: which release a file in place is of."""
        return next((each for each in self.entries if each.version != FOUND and each.files.get(file) == digest), None)


def service_names(wanted: Sequence[Wanted], names: Mapping[str, str], order: Sequence[str]) -> dict[str, str]:
    """Return the services that may run one of these artifacts: what each is, its name on the node, in start order."""
    used = {kind for each in wanted for uses in each.services.values() for kind in uses}
    return {kind: names.get(kind) or kind for kind in order if kind in used}


def read_operations(root: str, wanted: Sequence[Wanted], services: Mapping[str, str]) -> list[Operation]:
    """Return the operations that show all that a plan needs, in the order in which `observed` takes the results."""
    return [
        read_store(root),
        read_transaction(TRANSACTION),
        *(read_service(name) for name in services.values()),
        *(digest_file(file.path) for each in wanted for file in each.files),
    ]


def observed(results: Sequence[Result], wanted: Sequence[Wanted], services: Mapping[str, str]) -> Observed:
    """Return what the results of `read_operations` show."""
    store, transaction, *rest = results
    seen, digests = rest[: len(services)], rest[len(services) :]
    paths = [file.path for each in wanted for file in each.files]
    return Observed(
        entries=tuple(_entry(entry) for entry in store["entries"]),
        uploads=dict(store["uploads"]),
        digests={
            path: result["sha256"] if result["exists"] else None for path, result in zip(paths, digests, strict=True)
        },
        services={kind: _service(name, result) for (kind, name), result in zip(services.items(), seen, strict=True)},
        pending=transaction["pending"],
    )


def _entry(found: Result) -> Entry:
    files = {name: facts["sha256"] for name, facts in found["files"].items()}
    return Entry(found["entry"], found["name"], found["version"], found["sha256"], files)


def _service(name: str, result: Result) -> ServiceSeen:
    if not result["exists"]:
        return ServiceSeen(name, exists=False)
    return ServiceSeen(
        name,
        exists=True,
        running=result["state"] in {"running", "start_pending", "paused"},
        automatic=result["start_type"] in {"automatic", "delayed"},
        command_line=result["binary_path"],
    )
