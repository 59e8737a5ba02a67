"""Folders, and who may use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lockstep.node.operations import Operation, Result, ensure_folder, read_folder
from lockstep.windows import access
from lockstep.windows.aspect import Aspect, Change, Line, Observed


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is to be there; `access` is an access list in SDDL, None leaves its own alone."""

    path: str
    access: str | None = None

    @property
    def reading(self) -> Operation:
        """What asks for it."""
        return read_folder(self.path)


def compare(folders: Sequence[Folder], observed: Observed) -> Aspect:
    """Return what is to be made, or to be kept from others."""
    lines, changes = [], []
    for folder in folders:
        found = observed(folder.reading)
        before, after = _shown(found), _after(folder, found)
        lines.append(Line(folder.path, before, after))
        if before == after:
            continue
        label = f"set access to folder {folder.path}" if found["exists"] else f"make folder {folder.path}"
        changes.append(Change(label, ensure_folder(folder.path, folder.access)))
    return Aspect("folders", lines, changes)


def _after(folder: Folder, found: Result) -> str:
    if found["exists"] and (folder.access is None or access.same(found.get("access", ""), folder.access)):
        return _shown(found) or ""
    return _words(folder.access)


def _shown(found: Result) -> str | None:
    return _words(found.get("access")) if found["exists"] else None


def _words(sddl: str | None) -> str:
    """Return an access list for people: what is usual in words."""
    if not sddl:
        return "access as inherited from above"
    if access.same(sddl, access.ADMINISTRATORS):
        return "administrators and SYSTEM only"
    if access.same(sddl, access.USERS_READ):
        return "administrators and SYSTEM, users may read"
    return f"access {sddl}"
