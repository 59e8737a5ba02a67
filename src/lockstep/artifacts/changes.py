"""What differs between what a node has and what it is to have, artifact by artifact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lockstep.artifacts.observed import Observed
from lockstep.artifacts.wanted import File, Wanted

Action = Literal["installed", "upgraded", "replaced", "kept"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file as it is and as it is to be, by SHA-256.

    `before` is None where there is none, `after` where only the download tells. `version` is the release that the file
    is of, None for one that no release in the store has.
    """

    file: File
    before: str | None
    after: str | None
    version: str | None

    @property
    def differs(self) -> bool:
        """Whether it has to be put in place, as far as is known."""
        return self.after is None or self.before != self.after

    @property
    def foreign(self) -> bool:
        """Whether somebody else's file is there, of no release that the store has."""
        return self.before is not None and self.version is None and self.before != self.after


@dataclass(frozen=True, slots=True)
class Change:
    """One artifact: what it is to be, whether it has to be fetched, and each of its files."""

    wanted: Wanted
    fetch: bool
    files: tuple[FileChange, ...]

    @property
    def differing(self) -> tuple[FileChange, ...]:
        """The files that have to be put in place."""
        return tuple(each for each in self.files if each.differs)

    @property
    def from_version(self) -> str | None:
        """The release that is in place, None where there is none or nothing tells."""
        return next((each.version for each in self.files if each.version is not None), None)

    @property
    def action(self) -> Action:
        """What becomes of the artifact."""
        if not self.differing:
            return "kept"
        if all(each.before is None for each in self.files):
            return "installed"
        return "upgraded" if self.from_version not in {None, self.wanted.version} else "replaced"


def changes(observed: Observed, wanted: Sequence[Wanted]) -> tuple[Change, ...]:
    """Return what becomes of each artifact."""
    return tuple(Change(each, observed.entry(each) is None, tuple(_files(observed, each))) for each in wanted)


def _files(observed: Observed, wanted: Wanted) -> Iterator[FileChange]:
    entry = observed.entry(wanted)
    for file in wanted.files:
        before = observed.digests[file.path]
        owner = observed.owner(file.name, before) if before is not None else None
        after = entry.files[file.name] if entry else wanted.digest if wanted.format == "file" else None
        if owner and owner.entry == wanted.entry:
            after = before
        version = wanted.version if before is not None and before == after else owner.version if owner else None
        yield FileChange(file, before, after, version)
