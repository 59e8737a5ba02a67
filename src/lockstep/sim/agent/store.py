"""The folders of a store on a node: entries, what is on its way to become one, and what could not be removed yet."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.sim.agent.files import Files
from lockstep.sim.disk import DiskError

MANIFEST = "manifest.json"
PART, UPLOAD, UNPACKING = ".lockstep-part", ".lockstep-upload", ".lockstep-new"
_ENTRY = re.compile(r"[a-z0-9][a-z0-9-]{0,62}-[0-9A-Za-z][0-9A-Za-z.+-]{0,62}-[0-9a-f]{12}")
_UPLOAD = re.compile(r"([0-9a-f]{64})\.lockstep-upload$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Store:
    """The store at `root`."""

    files: Files
    root: str

    def path(self, name: str) -> str:
        """Where something of this name is."""
        return f"{self.root}\\{name}"

    def names(self) -> list[str]:
        """Return the names of folders that are entries, whole or not."""
        return [name for name in self.files.disk.folders(self.root) if _ENTRY.fullmatch(name)]

    def manifest(self, entry: str) -> Mapping[str, Any] | None:
        """Return what an entry's manifest says; None where the entry is not whole."""
        folder = self.path(entry)
        data = self.files.read(f"{folder}\\{MANIFEST}")
        try:
            found: dict[str, Any] = json.loads(data or b"{}")
            whole = all(self.files.disk.size(f"{folder}\\{one['name']}") == one["size"] for one in found["files"])
        except (ValueError, KeyError, TypeError):
            return None
        return found if whole and found.get("manifest") == 1 else None

    def uploads(self) -> dict[str, int]:
        """Return what is being sent: SHA-256 to bytes that are there."""
        found = {}
        for path in self.files.disk.listing(self.root, f"*{UPLOAD}"):
            match = _UPLOAD.search(path)
            if match:
                found[match[1]] = self.files.disk.size(path) or 0
        return found

    def left(self) -> list[str]:
        """Return the paths of what interrupted work left."""
        disk = self.files.disk
        unpacking = [self.path(name) for name in disk.folders(self.root) if name.endswith(UNPACKING)]
        files = [path for ending in (PART, UPLOAD) for path in disk.listing(self.root, f"*{ending}")]
        return [*files, *unpacking]

    def clear(self, path: str) -> bool:
        """Take a file or a folder out of the way, into the trash where it is in use; False where it stays."""
        disk = self.files.disk
        folder = disk.is_folder(path)
        if not folder and not disk.exists(path):
            return True
        if not folder and self.discard(path):
            return True
        try:
            disk.make_folder(self.path("trash"))
            name, time, number = path.rpartition("\\")[2], self.files.time(), 1
            while self._there(place := f"{self.path('trash')}\\{name}.{time}.{number}"):
                number += 1
            if folder:
                disk.move_folder(path, place)
            else:
                self.files.move(path, place)
        except DiskError:
            return False
        self.discard(place)
        return True

    def discard(self, path: str) -> bool:
        """Remove a file or a folder as far as nothing of it is in use; whether all is gone."""
        try:
            if self.files.disk.is_folder(path):
                self.files.disk.delete_folder(path)
            else:
                self.files.disk.delete(path)
        except DiskError:
            return False
        return True

    def clear_trash(self) -> bool:
        """Remove what is in the trash, as far as nothing has it any more; whether something went."""
        disk, trash = self.files.disk, self.path("trash")
        waiting = [*disk.listing(trash), *(f"{trash}\\{name}" for name in disk.folders(trash))]
        gone = [self.discard(path) for path in waiting]
        if disk.is_folder(trash) and not disk.listing(trash) and not disk.folders(trash):
            self.discard(trash)
        return any(gone)

    def _there(self, path: str) -> bool:
        return self.files.disk.exists(path) or self.files.disk.is_folder(path)
