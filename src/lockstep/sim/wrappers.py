"""Programs that run another one as a service: kube-log-runner.exe and nssm.exe.

Sources: kubernetes staging/src/k8s.io/component-base/logs/kube-log-runner (its flags, Go's flag package: they end at
the first word that is none); nssm.cc/usage and nssm.cc/commands (Application, AppParameters below the service's
Parameters key; a service whose application does not stay up is paused until it is started again).
"""

from __future__ import annotations

import ntpath
from collections.abc import Mapping
from typing import Any

from lockstep.catalog.versions import Version
from lockstep.sim import command_line, windows
from lockstep.sim.disk import DiskError
from lockstep.sim.engine import Completed
from lockstep.sim.machine import ExitError, Machine, PausedError, Program
from lockstep.sim.programs import NotAProgramError, find

_ROTATION = ("log-file-size", "log-file-age", "flush-interval")
"""Flags that came with 1.34. Source: kubernetes CHANGELOG-1.34 (kubernetes#127667)."""
_ROTATES = (1, 34, 0)
_SWITCHES = ("also-stdout", "redirect-stderr")


class LogRunner:
    """kube-log-runner.exe: the program that it runs is the service's own, what that prints goes to a file."""

    def __init__(self, version: str) -> None:
        self._values = ("log-file", *(_ROTATION if Version.parse(version).release >= _ROTATES else ()))

    def run(self, machine: Machine, arguments: list[str]) -> Completed:
        """Refuse: the simulated node runs it as a service only."""
        del machine, arguments
        return Completed(1, b"", b"kube-log-runner: the simulated node runs it as a service only\n")

    def serve(self, machine: Machine, arguments: list[str]) -> Mapping[str, Any]:
        """Start the program that its arguments name; raises ExitError."""
        flags, words = _flags(arguments, self._values)
        if not words:
            raise ExitError(1, "not enough arguments to run", before_ready=True)
        log = flags.get("log-file")
        if log:
            if not machine.disk.is_folder(ntpath.dirname(log)):
                words_of_go = "The system cannot find the path specified."
                raise ExitError(1, f"failed to create log file {log}: open {log}: {words_of_go}", before_ready=True)
            machine.disk.append(log, f"Running command: {' '.join(words)}\n")
        try:
            return _program(machine, words[0]).serve(machine, words[1:])
        except ExitError as error:
            if log:
                machine.disk.append(log, f"{error.words}\n")
            raise


class Nssm:
    """nssm.exe: the program that it runs is in the registry, below the service's own key."""

    def __init__(self, version: str) -> None:
        self._version = version

    def run(self, machine: Machine, arguments: list[str]) -> Completed:
        """`version`; everything else is done in the registry."""
        del machine
        if arguments[:1] in (["version"], ["--version"]):
            return Completed(0, f"NSSM {self._version} 64-bit\n".encode(), b"")
        return Completed(1, b"", b"nssm: the simulated node runs it as a service, and nssm version only\n")

    def serve(self, machine: Machine, arguments: list[str]) -> Mapping[str, Any]:
        """Start the program that the service's parameters name; raises ExitError, PausedError."""
        del arguments
        parameters = _parameters(machine, machine.starting)
        application = str(parameters.get("Application", ""))
        if not application:
            raise ExitError(3, f"service {machine.starting} has no Application in its Parameters", before_ready=True)
        line = command_line.split(f"x {parameters.get('AppParameters', '')}")[1:]
        machine.under_service_manager = False
        try:
            return _program(machine, application).serve(machine, line)
        except ExitError as error:
            raise PausedError(f"{application} does not stay up: {error.words}") from None
        finally:
            machine.under_service_manager = True


def _flags(arguments: list[str], values: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """Return kube-log-runner's own flags and the command after them; raises ExitError."""
    flags: dict[str, str] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        name, equals, value = rest.pop(0).lstrip("-").partition("=")
        if name in values:
            flags[name] = value if equals else (rest.pop(0) if rest else "")
        elif name in _SWITCHES:
            flags[name] = value or "true"
        else:
            raise ExitError(2, f"flag provided but not defined: -{name}", before_ready=True)
    return flags, rest


def _program(machine: Machine, path: str) -> Program:
    try:
        program = find(machine, path)
    except (NotAProgramError, DiskError):
        raise ExitError(
            1, f"starting command: fork/exec {path}: %1 is not a valid Win32 application.", before_ready=True
        ) from None
    if program is None:
        raise ExitError(1, f'starting command: exec: "{path}": file does not exist', before_ready=True)
    return program


def _parameters(machine: Machine, service: str) -> Mapping[str, Any]:
    """Return the values below a service's Parameters key."""
    wanted = f"SYSTEM\\CurrentControlSet\\Services\\{service}\\Parameters".lower()
    registry = windows.read(machine.folder, "registry")
    values: dict[str, Any] = next((found for key, found in registry.items() if key.lower() == wanted), {})
    return {name: entry["value"] for name, entry in values.items()}
