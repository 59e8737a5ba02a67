"""The machine under a simulated node: memory, processors, disk, what Windows was installed, how long a boot takes.

It is `machine.json` in the node's folder, which a person may edit while the node runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from lockstep.catalog.data import load
from lockstep.k8s.quantities import QuantityError, to_bytes
from lockstep.sim.documents import read_json

_GIBIBYTE = 2**30
_SIZES = ("memory", "disk", "free")
_NUMBERS = ("processors", "winrm_memory_mb", "winrm_processes", "winrm_shells")
_SWITCHES = ("virtual", "nested")
_TRUE, _FALSE = ("true", "yes"), ("false", "no")


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a node's machine is: sizes in bytes, times in seconds.

    `virtual` says that it is a virtual machine, `nested` that its processor offers virtualization to Windows all the
    same. `restart_seconds` is how long a boot takes.
    """

    memory: int = 16 * _GIBIBYTE
    processors: int = 4
    disk: int = 128 * _GIBIBYTE
    free: int = 110 * _GIBIBYTE
    edition: str = "ServerDatacenter"
    installation: str = "Server Core"
    virtual: bool = True
    nested: bool = True
    winrm_memory_mb: int = 1024
    winrm_processes: int = 25
    winrm_shells: int = 30
    restart_seconds: float = 1.0

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Hardware:
        """Return the machine that settings describe (`memory: 8Gi`, `nested: false`), the rest as usual.

        Raises ValueError for a name or a value that is none.
        """
        if unknown := sorted(set(settings) - set(HARDWARE)):
            raise ValueError(f"{unknown[0]} is no setting of a machine: it has {', '.join(HARDWARE)}")
        given = {name: _value(name, value) for name, value in settings.items()}
        if "disk" in given and "free" not in given:
            given["free"] = min(cls().free, given["disk"])
        return replace(cls(), **given)

    @classmethod
    def read(cls, folder: Path) -> Hardware:
        """Return the machine of the node in this folder; what its machine.json does not say is as usual."""
        document = read_json(folder / "machine.json") or {}
        return cls(**{name: value for name, value in document.items() if name in HARDWARE})

    def data(self) -> dict[str, Any]:
        """As machine.json has it."""
        return asdict(self)


HARDWARE = tuple(field.name for field in fields(Hardware))
"""The settings of a machine, in the order in which people are told of them."""


def _value(name: str, value: Any) -> Any:
    text = str(value).strip()
    try:
        if name in _SIZES:
            return to_bytes(text)
        if name in _NUMBERS:
            return max(int(text), 1)
        if name == "restart_seconds":
            return max(float(text), 0.0)
    except (ValueError, QuantityError):
        expected = "a size such as 16Gi" if name in _SIZES else "a number"
        raise ValueError(f"{name} cannot be {text!r}: expected {expected}") from None
    if name in _SWITCHES:
        if text.lower() not in (*_TRUE, *_FALSE):
            raise ValueError(f"{name} cannot be {text!r}: expected true or false")
        return text.lower() in _TRUE
    return text


def hypervisor(hardware: Hardware, features: Mapping[str, str]) -> tuple[bool, bool]:
    """Return whether a hypervisor runs below Windows, and whether the processor offers virtualization to it.

    Windows itself runs on Hyper-V once that is installed, and is offered nothing any more.
    Source: Microsoft Learn, Win32_ComputerSystem.HypervisorPresent, Win32_Processor.VirtualizationFirmwareEnabled.
    """
    hyperv = features.get("Hyper-V") == "installed"
    offered = hardware.nested or not hardware.virtual
    return hardware.virtual or hyperv, offered and not hyperv


def new_server() -> Mapping[str, Any]:
    """Return what a newly installed Windows Server has (catalogue, windows-server.yaml); only to be read."""
    facts: Mapping[str, Any] = load("windows-server")
    return facts
