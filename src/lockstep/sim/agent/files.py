"""The agent's file steps: what it writes, keeps aside and puts back, with the names that the agent uses."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.clock import Clock
from lockstep.sim.disk import Disk, DiskError

OLD, NEW, MIDDLE, REJECTED = ".lockstep-old", ".lockstep-new", ".lockstep-mid", ".rejected"
_TIME = "%Y%m%dT%H%M%SZ"
_ATTEMPTS = 6
_Result = TypeVar("_Result")


def sha256(data: bytes) -> str:
    """SHA-256 in lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


class Files:
    """File steps on one node's disk."""

    def __init__(self, disk: Disk, clock: Clock) -> None:
        self.disk = disk
        self._clock = clock

    def time(self) -> str:
        """Now, as backup names have it."""
        return self._clock.text(_TIME)

    def read(self, path: str, limit: int | None = None) -> bytes | None:
        """Return a file's bytes, None for no file; raises OperationError."""
        if self.disk.is_folder(path):
            raise OperationError("is_directory", f"{path} is a folder, not a file.")
        data = self.disk.read(path)
        if data is not None and limit is not None and len(data) > limit:
            raise OperationError("too_large", f"{path} has {len(data)} bytes; at most {limit} are read.")
        return data

    def digest(self, path: str) -> str | None:
        """Return a file's SHA-256, None for no file."""
        data = self.read(path)
        return None if data is None else sha256(data)

    def move_over(self, source: str, target: str, backup: str) -> None:
        """Put a file where another is or is not; what it replaces becomes `backup`."""
        if self.disk.exists(target):
            self._patiently(lambda: self.disk.replace(source, target, backup))
        else:
            self._patiently(lambda: self.disk.move(source, target))

    def move(self, source: str, target: str) -> None:
        """Rename a file to a name that is free."""
        self._patiently(lambda: self.disk.move(source, target))

    def remove(self, path: str) -> None:
        """Remove a file where there is one."""
        self._patiently(lambda: self.disk.delete(path))

    def write_beside(self, path: str, data: bytes) -> None:
        """Write the new content beside a file, folders included."""
        parent = path.rpartition("\\")[0]
        if not parent.endswith(":"):
            self.disk.make_folder(parent)
        self.disk.write(path + NEW, data)

    def save_backup(self, source: str, path: str, time: str) -> str:
        """Keep a file as `<path>.<UTC time>.bak`; that name."""
        moment = datetime.strptime(time, _TIME).replace(tzinfo=UTC)
        while self.disk.exists(f"{path}.{moment.strftime(_TIME)}.bak"):
            moment += timedelta(seconds=1)
        backup = f"{path}.{moment.strftime(_TIME)}.bak"
        self.move(source, backup)
        return backup

    def half_exchanged(self, path: str) -> str | None:
        """Return where a file's content is while an exchange that power interrupted has left none under its own name.

        The new file waits beside it, or the rejected one has its name already; the former content still has another.
        """
        exists = self.disk.exists
        if exists(path) or not (exists(path + NEW) or exists(path + REJECTED)):
            return None
        return next((path + ending for ending in (MIDDLE, OLD) if exists(path + ending)), None)

    def take_back_exchange(self, path: str) -> None:
        """Give such a file its own name again."""
        aside = self.half_exchanged(path)
        if aside is not None:
            self.move(aside, path)

    def _patiently(self, action: Callable[[], _Result]) -> _Result:
        """Try again for a second while a virus scanner may hold the file."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return action()
            except DiskError as error:
                if error.code != "in_use":
                    raise
                self._clock.sleep(0.2)
        return action()
