"""Running programs for the agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.engine import Completed
from lockstep.sim.machine import Machine
from lockstep.sim.programs import NotAProgramError, find
from lockstep.sim.services import BAD_PROGRAM, MESSAGES, Services

_STDOUT_LIMIT = 1024 * 1024
_STDERR_LIMIT = 64 * 1024
_TO_EXE = re.compile(r"^(.*?\.exe)(\s|$)", re.IGNORECASE)


def program_path(command_line: str) -> str:
    """Return the program that a service's command line names: quoted, or up to `.exe`, or the first word."""
    text = command_line.strip()
    if text.startswith('"'):
        return text[1:].partition('"')[0]
    match = _TO_EXE.match(text)
    return match[1] if match else text.split(maxsplit=1)[0]


def resolve(machine: Machine, services: Services, operation: Mapping[str, Any]) -> str | None:
    """Return the full path of the program that an operation names; None where it is not there."""
    path = operation.get("path")
    if path is None:
        service = services.get(operation["service"])
        if service is None:
            return None
        path = program_path(service.binary_path)
        if operation.get("sibling"):
            path = f"{path.rpartition(chr(92))[0]}\\{operation['sibling']}"
    return path if machine.disk.exists(path) else None


def run(machine: Machine, path: str, arguments: list[str]) -> Completed:
    """Run a program to its end; raises OperationError where Windows could not."""
    try:
        program = find(machine, path)
    except NotAProgramError:
        raise OperationError("io", MESSAGES[BAD_PROGRAM]) from None
    if program is None:
        raise OperationError("io", "The system cannot find the file specified")
    return program.run(machine, arguments)


def report(machine: Machine, services: Services, operation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of program.run."""
    path = resolve(machine, services, operation)
    if path is None:
        return {"found": False}
    done = run(machine, path, list(operation.get("arguments", ())))
    return {
        "found": True,
        "program": path,
        "exit_code": done.exit_code,
        "stdout": done.stdout.decode("utf-8", "replace")[:_STDOUT_LIMIT],
        "stderr": done.stderr.decode("utf-8", "replace")[:_STDERR_LIMIT],
        "timed_out": False,
    }
