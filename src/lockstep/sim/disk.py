"""A node's drives: Windows paths on a folder of this machine, one folder a drive letter.

Names are found whatever their case, as on NTFS. Every change is a counted micro-step, so that power can be lost
before, in the middle of, and after it. The words of errors are those of .NET's System.IO.
"""

from __future__ import annotations

import ntpath
import re
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from lockstep.sim.faults import Faults
from lockstep.sim.hardware import Hardware
from lockstep.sim.steps import Steps

_FULL_PATH = re.compile(r"^[A-Za-z]:[\\/]")
_FORBIDDEN = re.compile(r'[<>"|?*\x00-\x1f]')


class DiskError(Exception):
    """Windows refuses a file operation.

    `code` is the contract's (`denied`, `in_use`, `is_directory`, `missing`, `no_space`, `io`).
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class NoDriveError(DiskError):
    """The node has no drive of this letter: to look there finds nothing, to write there fails."""


class Disk:
    """The drives of one node."""

    def __init__(self, root: Path, faults: Faults, steps: Steps) -> None:
        self._root = root
        self._faults = faults
        self._step = steps

    def locate(self, path: str) -> Path:
        """Where a Windows path lies on this machine, with the case of what is there; the file need not exist.

        Raises DiskError where the path is no full path with a drive of this node.
        """
        clean = ntpath.normpath(path.replace("/", "\\"))
        drive, rest = ntpath.splitdrive(clean)
        if not _FULL_PATH.match(clean) or _FORBIDDEN.search(rest) or ":" in rest:
            raise DiskError("io", f"The given path's format is not supported: {path}")
        place = self._root / drive[0].upper()
        if not place.is_dir():
            raise NoDriveError("io", f"Could not find a part of the path '{path}'.")
        for part in (part for part in rest.split("\\") if part):
            place = _child(place, part)
        return place

    def exists(self, path: str) -> bool:
        """Whether a file (not a folder) is there."""
        try:
            return self.locate(path).is_file()
        except NoDriveError:
            return False

    def is_folder(self, path: str) -> bool:
        """Whether a folder is there."""
        try:
            return self.locate(path).is_dir()
        except NoDriveError:
            return False

    def read(self, path: str) -> bytes | None:
        """Return a file's bytes, None where there is no file; raises DiskError."""
        try:
            place = self.locate(path)
        except NoDriveError:
            return None
        if place.is_dir():
            raise DiskError("is_directory", f"Access to the path '{path}' is denied: it is a folder.")
        self._allow(path)
        try:
            return place.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            raise _denied(path) from None

    def text(self, path: str) -> str | None:
        """Return a file as text, None where there is none or it cannot be read."""
        try:
            data = self.read(path)
        except DiskError:
            return None
        return None if data is None else data.decode("utf-8-sig", "replace")

    def listing(self, folder: str, pattern: str = "*") -> list[str]:
        """Full Windows paths of the files in a folder whose names match, sorted; nothing where there is no folder."""
        place = self.locate(folder)
        if not place.is_dir():
            return []
        names = sorted(entry.name for entry in place.iterdir() if entry.is_file())
        return [ntpath.join(folder, name) for name in names if fnmatchcase(name.lower(), pattern.lower())]

    def make_folder(self, path: str) -> None:
        """Make a folder and its parents."""
        place = self.locate(path)
        if place.is_dir():
            return
        self._step(f"make folder {path}")
        with _words(path):
            place.mkdir(parents=True, exist_ok=True)

    def write(self, path: str, data: bytes) -> None:
        """Write a file in place, not atomically: power can be lost with half of it written."""
        place = self.locate(path)
        if place.is_dir():
            raise DiskError("is_directory", f"Access to the path '{path}' is denied: it is a folder.")
        self._allow(path)
        if self._faults.holds("running", path):
            raise _held(path)
        if len(data) > self.free(path):
            raise DiskError("no_space", f"There is not enough space on the disk. : '{path}'")
        self._step(f"write {path}: begin")
        with _words(path), place.open("wb") as file:
            file.write(data[: len(data) // 2])
            file.flush()
            self._step(f"write {path}: half")
            file.write(data[len(data) // 2 :])
        self._step(f"write {path}: flushed")

    def extend(self, path: str, data: bytes) -> None:
        """Add to a file, which need not exist: power can be lost with half of it written."""
        place = self.locate(path)
        self._allow(path)
        if len(data) > self.free(path):
            raise DiskError("no_space", f"There is not enough space on the disk. : '{path}'")
        self._step(f"extend {path}: begin")
        with _words(path), place.open("ab") as file:
            file.write(data[: len(data) // 2])
            file.flush()
            self._step(f"extend {path}: half")
            file.write(data[len(data) // 2 :])

    def replace(self, new: str, target: str, old: str) -> None:
        """Put `new` in the place of `target` and keep that as `old`, as [IO.File]::Replace does.

        Power can be lost between its two renames: ReplaceFile promises no more. Source: Microsoft Learn, ReplaceFileW,
        ERROR_UNABLE_TO_MOVE_REPLACEMENT_2.
        """
        for path in (new, target, old):
            self._allow(path)
            if self._faults.holds("running", path):
                raise _denied(path)
        self._step(f"replace {target}: begin")
        with _words(target):
            place = self.locate(target)
            place.replace(self.locate(old))
            self._step(f"replace {target}: the old file has its other name, the new one has not")
            self.locate(new).replace(place)

    def move(self, source: str, target: str) -> None:
        """Rename a file; what has the new name is replaced."""
        self._allow(source)
        self._allow(target)
        self._step(f"move {source} to {target}")
        if self._faults.holds("running", target):
            raise _denied(target)
        with _words(source):
            self.locate(source).replace(self.locate(target))
        self._faults.follow("running", source, target)

    def delete(self, path: str) -> None:
        """Remove a file where it is there."""
        place = self.locate(path)
        if not place.is_file():
            return
        self._allow(path)
        if self._faults.holds("running", path):
            raise _denied(path)
        self._step(f"delete {path}")
        with _words(path):
            place.unlink()

    def folders(self, folder: str) -> list[str]:
        """Names of the folders in a folder, sorted; nothing where there is no folder."""
        place = self.locate(folder)
        return sorted(entry.name for entry in place.iterdir() if entry.is_dir()) if place.is_dir() else []

    def size(self, path: str) -> int | None:
        """Return how many bytes a file has; None where there is no file."""
        place = self.locate(path)
        return place.stat().st_size if place.is_file() else None

    def free(self, path: str) -> int:
        """Return how many bytes have room where a path is or is going to be."""
        told = self._faults.free_bytes(path)
        return Hardware.read(self._root).free if told is None else told

    def move_folder(self, source: str, target: str) -> None:
        """Rename a folder, which Windows refuses while a process has a file in it open."""
        self._allow_all(source)
        self._step(f"move folder {source} to {target}")
        with _words(source):
            self.locate(source).rename(self.locate(target))

    def remove_empty_folder(self, path: str) -> None:
        """Remove a folder that is there and holds nothing; raises DiskError for any other."""
        place = self.locate(path)
        if not place.is_dir() or any(place.iterdir()):
            raise DiskError("io", f"The directory is not empty: '{path}'")
        self._step(f"remove folder {path}")
        with _words(path):
            place.rmdir()

    def delete_folder(self, path: str) -> None:
        """Remove a folder and all that is in it, one after the other, as long as nothing is held."""
        for name in self.folders(path):
            self.delete_folder(ntpath.join(path, name))
        for file in self.listing(path):
            self.delete(file)
        place = self.locate(path)
        if place.is_dir():
            self._allow(path)
            self._step(f"delete folder {path}")
            with _words(path):
                place.rmdir()

    def _allow_all(self, folder: str) -> None:
        """Refuse what Windows refuses to do with a folder that has a file in use."""
        self._allow(folder)
        for kind in ("in_use", "running"):
            if self._faults.holds_within(kind, folder):
                raise _denied(folder)

    def append(self, path: str, text: str) -> None:
        """Add to a log file. What programs log is no micro-step: no promise rests on it."""
        place = self.locate(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("a", encoding="utf-8", newline="") as file:
            file.write(text)

    def _allow(self, path: str) -> None:
        if self._faults.holds("denied", path):
            raise _denied(path)
        if self._faults.holds("in_use", path):
            raise _held(path)


def _child(folder: Path, name: str) -> Path:
    exact = folder / name
    if exact.exists() or not folder.is_dir():
        return exact
    wanted = name.casefold()
    return next((entry for entry in folder.iterdir() if entry.name.casefold() == wanted), exact)


def _held(path: str) -> DiskError:
    words = f"The process cannot access the file '{path}' because it is being used by another process."
    return DiskError("in_use", words)


def _denied(path: str) -> DiskError:
    return DiskError("denied", f"Access to the path '{path}' is denied.")


@contextmanager
def _words(path: str) -> Iterator[None]:
    """Turn this machine's errors into Windows' words."""
    try:
        yield
    except PermissionError:
        raise _denied(path) from None
    except FileNotFoundError:
        raise DiskError("io", f"Could not find a part of the path '{path}'.") from None
    except (IsADirectoryError, NotADirectoryError):
        raise DiskError("is_directory", f"Access to the path '{path}' is denied: it is a folder.") from None
    except OSError as error:
        raise DiskError("io", f"{error.strerror}: '{path}'") from None
