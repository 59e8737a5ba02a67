"""The programs of a simulated node: placeholder files that name what they are.

A program file holds one line, `lockstep simulated program: containerd.exe 2.3.4`: running it runs the simulation
of that version. Replacing the file is an upgrade, removing it takes the program away. Every other file is no
program. Windows' own services have no files: their programs are there, and cannot be replaced.
"""

from __future__ import annotations

import re

from lockstep.sim.machine import Machine, Program

SYSTEM = "C:\\Windows\\System32"
_OWN = ("svchost.exe", "vmcompute.exe", "vmms.exe")
_LINE = re.compile(rb"^lockstep simulated program: ([\w.-]+) (\S+)\s*$")


class NotAProgramError(Exception):
    """A file is there, but Windows could not run it."""


def placeholder(name: str, version: str) -> bytes:
    """Return the content of a program file."""
    return f"lockstep simulated program: {name} {version}\r\n".encode()


def find(machine: Machine, path: str) -> Program | None:
    """Return the program at a path (`.exe` may be left out), None where there is no file.

    Raises NotAProgramError for any other file, DiskError where the file cannot be read.
    """
    data = machine.disk.read(path)
    if data is None:
        data = machine.disk.read(f"{path}.exe")
    if data is None:
        folder, _, name = path.rpartition("\\")
        own = folder.lower() == SYSTEM.lower() and name.lower() in _OWN
        return machine.programs[name.lower()]("") if own else None
    match = _LINE.match(data)
    factory = machine.programs.get(match[1].decode()) if match else None
    if match is None or factory is None:
        raise NotAProgramError(path)
    return factory(match[2].decode())
