r"""Folders and their access lists: `access.json` has those that are a folder's own, by its path in lower case.

What a folder inherits is told as Windows tells it: `AI`, and `ID` in each entry. The list of a new drive's root is
Windows' own. Source: Microsoft Learn, "Security Descriptor String Format", "ACE Strings"; icacls of
C:\ on Windows Server.
"""

from __future__ import annotations

import ntpath
import re

from lockstep.node.contract import ContractError
from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.table import Apply, Context, Group, Kind, Operation, Result
from lockstep.sim.disk import DiskError, NoDriveError

STATE = "access"
_LIST = re.compile(r"D:(?:P|AR|AI)*(?:\([A-Z]*;(?:[A-Z]{2})*;[^;()]*;[^;()]*;[^;()]*;[^;()]+\))*")
_KNOWN = {"S-1-5-18": "SY", "S-1-5-32-544": "BA", "S-1-5-32-545": "BU", "S-1-5-11": "AU", "S-1-1-0": "WD"}
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
    return "D:AI" + _inherited_by(context, path)


def _inherited_by(context: Context, path: str) -> str:
    """Return the entries that a folder inherits."""
    parent = ntpath.dirname(ntpath.normpath(path))
    above = _ROOT if parent == ntpath.normpath(path) or not ntpath.splitdrive(parent)[1].strip("\\") else ""
    return _inherited(above or access_of(context, parent))


def _inherited(sddl: str) -> str:
    """Return what a folder below one with this list inherits."""
    aces = []
    for ace in _ACE.findall(sddl):
        kind, flags, *rest = ace.split(";")
        marks = re.findall("..", flags)
        if "CI" not in marks:
            continue
        kept = [mark for mark in marks if mark not in ("IO", "ID")]
        aces.append(";".join([kind, "".join([*kept, *(["IO"] if rest[-1] == "CO" else []), "ID"]), *rest]))
    return "".join(f"({ace})" for ace in aces)


def _known(sddl: str) -> str:
    """Return a list as Windows spells it."""
    for sid, name in _KNOWN.items():
        sddl = sddl.replace(f";{sid})", f";{name})")
    return sddl.replace(";0x1f01ff;", ";FA;")


def _entries(sddl: str) -> tuple[bool, set[str]]:
    """Return whether a list is protected, and its own entries."""
    aces = _ACE.findall(_known(sddl))
    return "P" in sddl.partition("(")[0], {ace for ace in aces if "ID" not in re.findall("..", ace.split(";")[1])}


def _check(operation: Operation) -> None:
    access = operation.get("access")
    if access is not None and _LIST.fullmatch(access) is None:
        raise ContractError(f"{access} is no access list in SDDL, or names an account that this node does not know.")


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
    changes = False
    if access is not None and _entries(access_of(context, path)) != _entries(access):
        changes = True
        if context.faults.holds("denied", path):
            raise OperationError("denied", f"Access to the path '{path}' is denied.")
        step.touched = True
        inherited = "" if _entries(access)[0] else _inherited_by(context, path)
        access = _known(access) + inherited
        context.keep(STATE, {**context.state(STATE), _key(path): access}, f"set access to folder {path}")
    return {"changed": made or changes, "created": made}


def _undo(context: Context, step: Step) -> None:
    """Give access back, and take away the folders that were made, as far as nobody has put anything into them."""
    if not step.state["made"]:
        _keep(context, step.name, step.state["access"])
    for path in reversed(step.state["made"]):
        if context.files.disk.is_folder(path):
            try:
                context.files.disk.remove_empty_folder(path)
            except DiskError:
                return
        # A folder's list goes with it, and one that stays keeps its own.
        _keep(context, path, None)


def _keep(context: Context, path: str, access: str | None) -> None:
    """Keep a folder's own list, or that it has none, where that is not so yet."""
    own = context.state(STATE)
    wanted = {key: value for key, value in own.items() if key != _key(path)}
    if access is not None:
        wanted[_key(path)] = access
    if wanted != own:
        context.keep(STATE, wanted, f"give access to folder {path} back")


GROUP = Group(
    reads={"folder.read": _read},
    applies={"folder.ensure": Apply(_ensure, _former, _check)},
    kinds={"folder": Kind(_undo)},
)
