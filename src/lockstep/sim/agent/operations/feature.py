"""Features of Windows Server: `features.json` has their states by name, as `feature.read` gives them."""

from __future__ import annotations

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.table import Apply, Context, Group, Operation, Result

STATE = "features"
_WITHOUT_RESTART = frozenset({"Hyper-V-PowerShell", "Hyper-V-Tools", "RSAT-Hyper-V-Tools"})
"""Tools only. What brings drivers along works after a restart."""


def _states(context: Context) -> dict[str, str]:
    """Return the features that this Windows knows, with their states: none where it is no server."""
    return context.state(STATE) if "Server" in context.machine.facts.product else {}


def _read(context: Context, operation: Operation) -> Result:
    known = {name.lower(): state for name, state in _states(context).items()}
    return {"features": {name: known.get(name.lower(), "unknown") for name in operation["names"]}}


def _install(context: Context, operation: Operation, _: Step) -> Result:
    known = _states(context)
    if not known:
        raise OperationError("missing", "This Windows has no Install-WindowsFeature: only Windows Server has.")
    spelt = {name.lower(): name for name in known}
    unknown = [name for name in operation["names"] if name.lower() not in spelt]
    if unknown:
        raise OperationError("missing", f"This Windows has no feature {', '.join(unknown)}.")
    names = [spelt[name.lower()] for name in operation["names"]]
    pending = any(known[name] == "install_pending" for name in names)
    absent = [name for name in names if known[name] not in {"installed", "install_pending"}]
    if not absent:
        return {"changed": False, "restart_needed": pending}
    removed = [name for name in absent if known[name] == "removed" and "source" not in operation]
    if removed:
        raise OperationError(
            "missing",
            f"The files of {', '.join(removed)} are not on this node, and Windows Update does not give them: name a "
            r"-Source, such as the sources\sxs folder of this build's medium. Windows said: The source files could not "
            "be found. (0x800f081f)",
        )
    installed = {name: "installed" if name in _WITHOUT_RESTART else "install_pending" for name in absent}
    context.keep(STATE, {**known, **installed}, f"install {', '.join(absent)}")
    return {"changed": True, "restart_needed": pending or "install_pending" in installed.values()}


GROUP = Group(reads={"feature.read": _read}, applies={"feature.install": Apply(_install)})
