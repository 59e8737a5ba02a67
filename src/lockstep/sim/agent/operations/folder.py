r"""Folders and their access lists: `access.json` has those that are a folder's own, by its path in lower case.

What a folder inherits is told as Windows tells it: `AI`, and `ID` in each entry. The list of a new drive's root is
Windows' own. Source: Microsoft Learn, "Security Descriptor String Format", "ACE Strings"; icacls of
C:\ on Windows Server.
"""

from __future__ import annotations

import ntpath
import re

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.table import Apply, Context, Group, Kind, Operation, Result
from lockstep.sim.disk import DiskError, NoDriveError

STATE = "access"
_ROOT = "D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)(A;CI;LC;;;BU)(A;CIIO;DC;;;BU)(A;OICIIO;GA;;;CO)"
_ADMINISTRATORS = "S-1-5-32-544"
_ACE = re.compile(r"\(([^()]*)\)")


def _key(path: str) -> str:
    return ntpath.normpath(path).rstrip("\\").lower()


def access_of(context: Context, path: str) -> str:
    """Return a folder's access list, inherited entries included."""
    own = context.state(STATE)
    if _key(path) in own:
        return str(own[_key(path)])
    parent = ntpath.dirname(ntpath.normpath(path))
    above = _ROOT if parent == ntpath.normpath(path) or not ntpath.splitdrive(parent)[1].strip("\\") else ""
    return _inherited(above or access_of(context, parent))


def _inherited(sddl: str) -> str:
    """Return what a folder below one with this list has, where it has none of its own."""
    aces = []
    for ace in _ACE.findall(sddl):
        kind, flags, *rest = ace.split(";")
        marks = re.findall("..", flags)
        if "CI" not in marks:
            continue
        kept = [mark for mark in marks if mark not in ("IO", "ID")]
        aces.append(";".join([kind, "".join([*kept, *(["IO"] if rest[-1] == "CO" else []), "ID"]), *rest]))
    return "D:AI" + "".join(f"({ace})" for ace in aces)


def _read(context: Context, operation: Operation) -> Result:
    path = operation["path"]
    if not context.files.disk.is_folder(path):
        return {"exists": False}
    return {"exists": True, "access": access_of(context, path), "owner": _ADMINISTRATORS}


def _missing(context: Context, path: str) -> list[str]:
    """Return the folders that are not there yet, the outermost first."""
    found: list[str] = []
    place = ntpath.normpath(path)
    while not context.files.disk.is_folder(place) and ntpath.dirname(place) != place:
        found.insert(0, place)
        place = ntpath.dirname(place)
    return found


def _former(context: Context, operation: Operation) -> list[Step]:
    path = operation["path"]
    own = context.state(STATE).get(_key(path))
    return [Step("folder", path, {"made": _missing(context, path), "access": own})]


def _ensure(context: Context, operation: Operation, step: Step) -> Result:
    path, access, disk = operation["path"], operation.get("access"), context.files.disk
    if disk.exists(path):
        raise OperationError("io", f"Cannot create '{path}' because a file with the same name already exists.")
    made = not disk.is_folder(path)
    if made:
        step.touched = True
        try:
            disk.make_folder(path)
        except NoDriveError as error:
            raise OperationError("io", error.message) from None
    changes = access is not None and (made or access_of(context, path) != access)
    if changes:
        if context.faults.holds("denied", path):
            raise OperationError("denied", f"Access to the path '{path}' is denied.")
        step.touched = True
        context.keep(STATE, {**context.state(STATE), _key(path): access}, f"set access to folder {path}")
    return {"changed": made or changes, "created": made}


def _undo(context: Context, step: Step) -> None:
    """Take away the folders that were made, as far as nobody has put anything into them, and give access back."""
    own = context.state(STATE)
    former = {key: value for key, value in own.items() if key != _key(step.name)}
    if step.state["access"] is not None:
        former[_key(step.name)] = step.state["access"]
    if former != own:
        context.keep(STATE, former, f"give access to folder {step.name} back")
    for path in reversed(step.state["made"]):
        try:
            context.files.disk.remove_empty_folder(path)
        except DiskError:
            return


GROUP = Group(
    reads={"folder.read": _read},
    applies={"folder.ensure": Apply(_ensure, _former)},
    kinds={"folder": Kind(_undo)},
)
