r"""What Windows itself keeps on a simulated node: JSON files in the node's folder, one a subject.

registry.json   {key below HKLM: {name: {"kind": …, "value": …}}}, kinds and values as the contract has them
features.json   {name: state}, states as feature.read tells them; what is not in it is unknown
firewall.json   {name: rule}, rules as firewall.read tells them
defender.json   {"present": true, "processes": […], "paths": […]}
power.json      {"scheme": GUID, "schemes": [GUID, …]}
machine.json    the machine (lockstep.sim.hardware), and what it remembers until the next boot: {"boot_marker": …}
access.json     {path: access list in SDDL} of folders whose access list is their own
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lockstep.sim.documents import read_json, write_json
from lockstep.sim.hardware import Hardware, new_server
from lockstep.sim.machine import Facts
from lockstep.sim.programs import SYSTEM, placeholder
from lockstep.sim.services import Service

State = dict[str, Any]
_CURL = "8.9.1"
_SESSION = "SYSTEM\\CurrentControlSet\\Control\\Session Manager"
_UPDATE = "SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WindowsUpdate\\Auto Update\\RebootRequired"
_NAMES = "SYSTEM\\CurrentControlSet\\Control\\ComputerName"
_COMPUTER_NAMES = ("ComputerName", "ActiveComputerName")


def install(folder: Path, facts: Facts, hardware: Hardware, features: Sequence[str]) -> None:
    """Write what a new Windows Server has into a node's folder; `features` are installed already.

    What has no file yet is as on every new server: no exclusions, no rules of ours, the balanced power scheme.
    """
    (folder / "C" / "Windows" / "System32").mkdir(parents=True)
    (folder / "C" / "Windows" / "System32" / "curl.exe").write_bytes(placeholder("curl.exe", _CURL))
    (folder / "C" / "ProgramData").mkdir()
    states = {
        "registry": _registry(facts, hardware),
        "features": {name: "installed" if name in features else "available" for name in new_server()["features"]},
        "machine": hardware.data(),
    }
    for name, state in states.items():
        write_json(folder / f"{name}.json", state)


def services(features: Sequence[str] = ()) -> list[Service]:
    """Return Windows' own services, those that come with features included."""
    server = new_server()
    found = dict(server["services"])
    for feature in features:
        found |= server["features"][feature].get("services", {})
    return [_service(name, entry) for name, entry in found.items()]


def _service(name: str, entry: Mapping[str, Any]) -> Service:
    return Service(
        name, entry["display"], f"{SYSTEM}\\{entry['program']}", entry["start"], list(entry.get("needs", ()))
    )


def _registry(facts: Facts, hardware: Hardware) -> State:
    build, _, revision = facts.build.rpartition(".")
    known: dict[str, Any] = {
        **facts.data(),
        **hardware.data(),
        "build": build.rpartition(".")[2],
        "revision": int(revision),
    }
    return {
        key: {name: {"kind": kind, "value": _filled(value, known)} for name, (kind, value) in values.items()}
        for key, values in new_server()["registry"].items()
    }


def _filled(value: Any, known: Mapping[str, Any]) -> Any:
    """Return a value with `{name}` replaced by what the node has under that name; a number stays one."""
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    found = known[value.strip("{}")]
    return found if value == "{revision}" else str(found)


def read(folder: Path, name: str) -> State:
    """Return one of the states; empty where the node keeps nothing under this name."""
    return read_json(folder / f"{name}.json") or {}


def pending(folder: Path) -> list[str]:
    """Return why Windows waits for a restart, as machine.read tells it.

    Source: Microsoft Learn, "MoveFileExW" (PendingFileRenameOperations); the checks of Microsoft's own
    xPendingReboot (DSC).
    """
    registry = {key.lower(): values for key, values in read(folder, "registry").items()}
    named = [registry.get(f"{_NAMES}\\{which}".lower(), {}).get("ComputerName") for which in _COMPUTER_NAMES]
    checks = {
        "component_servicing": any(state.endswith("_pending") for state in read(folder, "features").values()),
        "windows_update": _UPDATE.lower() in registry,
        "file_renames": "PendingFileRenameOperations" in registry.get(_SESSION.lower(), {}),
        "computer_name": named[0] != named[1],
    }
    return [reason for reason, waits in checks.items() if waits]


def boot(folder: Path) -> list[Service]:
    """Complete what waited for a restart; the services that newly installed features bring."""
    _forget_marker(folder)
    _complete_registry(folder)
    features = read(folder, "features")
    after = {"install_pending": "installed", "uninstall_pending": "available"}
    settled = {name: after.get(state, state) for name, state in features.items()}
    if settled == features:
        return []
    write_json(folder / "features.json", settled)
    catalogue = new_server()["features"]
    arrived = [catalogue[name] for name, state in features.items() if state == "install_pending" and name in catalogue]
    return [_service(*entry) for feature in arrived for entry in feature.get("services", {}).items()]


def _forget_marker(folder: Path) -> None:
    machine = read(folder, "machine")
    if machine.pop("boot_marker", None) is not None:
        write_json(folder / "machine.json", machine)


def _complete_registry(folder: Path) -> None:
    """Let pending renames, updates and the new computer name come into effect."""
    registry = read(folder, "registry")
    keys = {key.lower(): key for key in registry}
    before = json.dumps(registry)
    if key := keys.get(_UPDATE.lower()):
        del registry[key]
    registry.get(keys.get(_SESSION.lower(), ""), {}).pop("PendingFileRenameOperations", None)
    new, active = (keys.get(f"{_NAMES}\\{which}".lower(), "") for which in _COMPUTER_NAMES)
    if new and active:
        registry[active] = registry[new]
    if json.dumps(registry) != before:
        write_json(folder / "registry.json", registry)
