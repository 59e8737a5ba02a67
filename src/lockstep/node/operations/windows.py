"""Operations on Windows itself: registry, folders, features, firewall, Defender, power, and the machine as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.node.operations.types import Operation

RegistryValue = str | int | list[str]
"""string, expand_string: text; multi_string: texts; dword, qword: number; binary: base64."""


def read_machine() -> Operation:
    """Return the operation that asks what the machine has, and whether it waits for a restart."""
    return {"op": "machine.read"}


def restart_system(marker: str, *, reason: str, delay_seconds: int = 5) -> Operation:
    """Return the operation that restarts Windows once the request is committed; it has to be the last one.

    `marker` is what `machine.read` tells until the boot.
    """
    return {"op": "system.restart", "marker": marker, "delay_seconds": delay_seconds, "reason": reason}


def read_registry(key: str, name: str) -> Operation:
    """Return the operation that reads one value below HKLM."""
    return {"op": "registry.read", "key": key, "name": name}


def write_registry(
    key: str, name: str, kind: str, value: RegistryValue, *, replaces: RegistryValue | None
) -> Operation:
    """Return the operation that sets one value, if it still is `replaces` (None: is not there)."""
    return {"op": "registry.write", "key": key, "name": name, "kind": kind, "value": value, "expect": replaces}


def remove_registry(key: str, name: str, *, replaces: RegistryValue) -> Operation:
    """Return the operation that removes one value, if it still is `replaces`."""
    return {"op": "registry.remove", "key": key, "name": name, "expect": replaces}


def read_folder(path: str) -> Operation:
    """Return the operation that asks whether a folder is there, and who may use it."""
    return {"op": "folder.read", "path": path}


def ensure_folder(path: str, access: str | None = None) -> Operation:
    """Return the operation that makes a folder; `access` is an access list in SDDL, None leaves it alone."""
    return {"op": "folder.ensure", "path": path, **({} if access is None else {"access": access})}


def read_features(names: Sequence[str]) -> Operation:
    """Return the operation that reads the states of Windows features."""
    return {"op": "feature.read", "names": list(names)}


def install_features(names: Sequence[str], source: str | None = None) -> Operation:
    """Return the operation that installs Windows features, from `source` where their files were removed."""
    return {"op": "feature.install", "names": list(names), **({} if source is None else {"source": source})}


def read_firewall(names: Sequence[str]) -> Operation:
    """Return the operation that reads firewall rules by name."""
    return {"op": "firewall.read", "names": list(names)}


def write_firewall(
    name: str,
    display_name: str,
    *,
    protocol: str,
    local_ports: Sequence[str] = (),
    direction: str = "inbound",
    action: str = "allow",
) -> Operation:
    """Return the operation that makes one firewall rule exactly this."""
    return {
        "op": "firewall.write",
        "name": name,
        "display_name": display_name,
        "direction": direction,
        "action": action,
        "protocol": protocol,
        "local_ports": list(local_ports),
    }


def remove_firewall(name: str) -> Operation:
    """Return the operation that removes one firewall rule."""
    return {"op": "firewall.remove", "name": name}


def read_defender() -> Operation:
    """Return the operation that reads Microsoft Defender's exclusions."""
    return {"op": "defender.read"}


def exclude_from_defender(processes: Sequence[str], paths: Sequence[str]) -> Operation:
    """Return the operation that adds exclusions to those that are there."""
    return {"op": "defender.exclude", "processes": list(processes), "paths": list(paths)}


def read_power() -> Operation:
    """Return the operation that reads the active power scheme."""
    return {"op": "power.read"}


def write_power(scheme: str) -> Operation:
    """Return the operation that makes a power scheme (its GUID) the active one."""
    return {"op": "power.write", "scheme": scheme}


def read_certificates(path: str) -> Operation:
    """Return the operation that reads the certificates, never the keys, of a PEM file."""
    return {"op": "certificate.read", "path": path}
