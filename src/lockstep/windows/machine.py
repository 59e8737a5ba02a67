"""The machine under a node, as far as containers need something of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from lockstep.catalog.data import load
from lockstep.node.operations import Result
from lockstep.windows.problem import Problem

_MEGABYTE = 1024**2
_GIGABYTE = 1024**3
_NEARLY = 0.94
"""What a machine of so much memory shows of it at least: firmware and devices keep some."""
CLOCK_SKEW_SECONDS = 300
"""A certificate that the cluster signs is dated back by so much, and is not valid yet for a clock further behind.

Source: kubernetes/kubernetes pkg/controller/certificates/authority and signer (Backdate: 5 minutes).
"""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a node's machine must have. 0 asks for nothing. `hyperv`: utility VMs run on it."""

    memory_mb: int = 0
    processors: int = 0
    free_disk_gb: int = 0
    hyperv: bool = False


def edition_problems(machine: Result) -> Iterator[Problem]:
    """Yield why this is no Windows that containers run on."""
    facts = load("windows-editions")
    installation, edition = machine["installation"], machine["edition"]
    if installation and installation not in facts["installations"]:
        expected = " or ".join(facts["installations"])
        yield Problem("edition", f"this is Windows {installation} ({edition}), expected {expected}", _OTHER_WINDOWS)
    elif edition in facts["refused"]:
        yield Problem("edition", f"edition {edition}: {facts['refused'][edition]}", _OTHER_WINDOWS)
    elif edition.endswith(facts["evaluation"]):
        text = "this is an evaluation of Windows Server, which shuts down every hour after 180 days"
        yield Problem("edition", text, "convert it in time: DISM /online /Set-Edition:ServerDatacenter", refuses=False)


def size_problems(machine: Result, needs: Needs, *, ready: bool) -> Iterator[Problem]:
    """Yield what the machine has too little of; on a node that is `ready`, images have used its disk."""
    memory = machine["memory_bytes"]
    if memory is None:
        text = f"Windows does not tell the machine's memory, expected {_gigabytes(needs.memory_mb * _MEGABYTE)}"
        yield Problem("memory", text, "see that it has as much", refuses=False)
    elif memory < needs.memory_mb * _MEGABYTE * _NEARLY:
        text = f"the machine has {_gigabytes(memory)} of memory, expected {_gigabytes(needs.memory_mb * _MEGABYTE)}"
        beside = " for Windows and one utility VM of the largest class" if needs.hyperv else ""
        yield Problem("memory", f"{text}{beside}", _more_memory(needs))
    if machine["processors"] < needs.processors:
        text = f"the machine has {_counted(machine['processors'])}, expected {needs.processors}"
        yield Problem("processors", text, _more_processors(needs))
    free = next((disk["free_bytes"] for disk in machine["disks"] if disk["drive"].upper() == "C:"), None)
    if free is not None and free < needs.free_disk_gb * _GIGABYTE:
        text = f"drive C: has {_gigabytes(free)} free, expected {needs.free_disk_gb} GB"
        yield Problem("disk", text, "extend the drive, or remove what is not needed", refuses=not ready)


def virtualization_problems(machine: Result, *, installed: bool) -> Iterator[Problem]:
    """Yield why Hyper-V cannot run here. `installed`: it is there already, and hides what it runs on.

    Source: Microsoft Learn, Win32_ComputerSystem (HypervisorPresent), IsProcessorFeaturePresent
    (PF_VIRT_FIRMWARE_ENABLED), "Run Hyper-V in a Virtual Machine with Nested Virtualization".
    """
    if installed:
        return
    virtual, offered = machine["hypervisor_present"], machine["virtualization_firmware"]
    if virtual is None or offered is None:
        text = "the machine does not say whether its processor offers virtualization, which Hyper-V needs"
        yield Problem("virtualization", text, "see that it does", refuses=False)
    elif virtual and not offered:
        text = "this is a virtual machine without nested virtualization, which classes with Hyper-V isolation need"
        yield Problem("virtualization", text, _NESTED)
    elif not offered:
        text = "virtualization is switched off in the firmware, and classes with Hyper-V isolation need it"
        yield Problem("virtualization", text, "switch on Intel VT-x or AMD-V in the machine's BIOS or UEFI settings")


def winrm_problems(machine: Result, service: Result) -> Iterator[Problem]:
    """Yield which of WinRM's quotas will be in the way, and whether it is there after a restart."""
    limits, quotas = load("windows-editions")["winrm"], machine["winrm"]
    named = {
        "memory_mb": ("MaxMemoryPerShellMB", quotas["max_memory_mb"], 1024),
        "processes": ("MaxProcessesPerShell", quotas["max_processes"], 25),
        "shells": ("MaxShellsPerUser", quotas["max_shells"], 30),
    }
    for name, (setting, found, usual) in named.items():
        # 0 is no limit, None what the node does not tell.
        if found and found < limits[name]:
            text = f"WinRM's {setting} is {found}, expected {limits[name]} or more"
            do = rf"on the node: Set-Item WSMan:\localhost\Shell\{setting} {usual}; Restart-Service WinRM"
            yield Problem("winrm", text, do, refuses=name == "memory_mb")
    if service["exists"] and service["start_type"] not in {"automatic", "delayed"}:
        text = f"service WinRM starts {service['start_type']}: nobody reaches the node after a restart of Windows"
        yield Problem("winrm", text, "on the node: Set-Service WinRM -StartupType Automatic", refuses=False)


def clock_skew(machine: Result, now: datetime) -> float:
    """Return by how many seconds the node's clock is ahead, less than 0 where it is behind; `now` is in UTC."""
    return (datetime.fromisoformat(machine["utc"]) - now).total_seconds()


def clock_problems(machine: Result, now: datetime) -> Iterator[Problem]:
    """Yield that the node's clock is wrong, or that of the controller."""
    skew = clock_skew(machine, now)
    if abs(skew) > CLOCK_SKEW_SECONDS:
        direction = "ahead of" if skew > 0 else "behind"
        text = f"the node's clock is {abs(skew) / 60:.0f} minutes {direction} the controller's"
        do = "see to it that both have the right time; w32tm /resync on the node"
        yield Problem("clock", text, do, refuses=False)


_OTHER_WINDOWS = "install Windows Server Standard or Datacenter, with or without desktop"
_NESTED = (
    "expose it to the machine (Hyper-V: Set-VMProcessor -ExposeVirtualizationExtensions $true; VMware: hardware "
    "assisted virtualization; clouds: a size that has it), or take the classes with Hyper-V isolation off this pool"
)


def _more_memory(needs: Needs) -> str:
    beside = ", or give its classes smaller VMs (vm.memory)" if needs.hyperv else ""
    return f"give the machine more memory{beside}"


def _more_processors(needs: Needs) -> str:
    beside = ", or give the VMs of its classes fewer (vm.processors)" if needs.hyperv else ""
    return f"give the machine more processors{beside}"


def _counted(processors: int) -> str:
    return f"{processors} logical processor{'' if processors == 1 else 's'}"


def _gigabytes(size: int) -> str:
    return f"{size / _GIGABYTE:.1f} GB".replace(".0 GB", " GB")
