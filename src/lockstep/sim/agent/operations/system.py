"""Windows itself, the machine under it, and its restart."""

from __future__ import annotations

import time

from lockstep.sim import windows
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.table import Apply, Context, Group, Operation, Result
from lockstep.sim.hardware import hypervisor


def _read(context: Context, _: Operation) -> Result:
    facts = context.machine.facts
    return {
        "build": facts.build,
        "product": facts.product,
        "computer_name": facts.computer_name,
        "host_name": facts.name,
    }


def _machine(context: Context, _: Operation) -> Result:
    hardware, folder = context.machine.hardware, context.machine.folder
    present, offered = hypervisor(hardware, context.state("features"))
    return {
        "edition": hardware.edition,
        "installation": hardware.installation,
        "memory_bytes": hardware.memory,
        "processors": hardware.processors,
        "disks": [{"drive": "C:", "size_bytes": hardware.disk, "free_bytes": context.files.disk.free("C:\\")}],
        "hypervisor_present": present,
        "virtualization_firmware": offered,
        "reboot_pending": windows.pending(folder),
        "boot_marker": context.state("machine").get("boot_marker"),
        "uptime_ms": int((time.monotonic() - context.machine.booted) * 1000),
        "utc": context.machine.clock.text(),
        "winrm": {
            "max_memory_mb": hardware.winrm_memory_mb,
            "max_processes": hardware.winrm_processes,
            "max_shells": hardware.winrm_shells,
        },
    }


def _restart(context: Context, operation: Operation, _: Step) -> Result:
    context.keep("machine", {**context.state("machine"), "boot_marker": operation["marker"]}, "mark this boot")
    context.steps("restart Windows")
    context.machine.restart(operation["delay_seconds"])
    return {"scheduled": True}


GROUP = Group(
    reads={"system.read": _read, "machine.read": _machine},
    applies={"system.restart": Apply(_restart, after_commit=True)},
)
