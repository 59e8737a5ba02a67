"""Running programs for the agent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.disk import DiskError
from lockstep.sim.machine import Machine
from lockstep.sim.programs import NotAProgramError, find
from lockstep.sim.services import BAD_PROGRAM, FILE_NOT_FOUND, MESSAGES, Services

_OUTPUT_LIMIT = 1024 * 1024
_FULL = re.compile(r"[A-Za-z]:[\\/]")
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
    return path if _FULL.match(path) and machine.disk.exists(path) else None


class Finished(NamedTuple):
    """A program that ran, or was ended at its time limit: then its exit code is -1, as Process.Kill leaves it."""

    exit_code: int
    stdout: str
    stderr: str
    timed_out: bool


def run(machine: Machine, path: str, arguments: list[str], seconds: float) -> Finished:
    """Run a program to its end or to its time limit; raises OperationError where Windows could not.

    The time that a program takes is what it lets pass on the node's clock.
    """
    try:
        program = find(machine, path)
    except NotAProgramError:
        raise _not_run(path, "io", MESSAGES[BAD_PROGRAM]) from None
    except DiskError as error:
        raise _not_run(path, error.code, error.message) from None
    if program is None:
        raise _not_run(path, "io", MESSAGES[FILE_NOT_FOUND])
    began = machine.clock.now()
    done = program.run(machine, arguments)
    late = machine.clock.now() - began >= seconds
    stdout, stderr = (data.decode("utf-8", "replace")[:_OUTPUT_LIMIT] for data in (done.stdout, done.stderr))
    return Finished(-1, "", "", timed_out=True) if late else Finished(done.exit_code, stdout, stderr, timed_out=False)


def _not_run(path: str, code: str, words: str) -> OperationError:
    return OperationError(code, f"{path} cannot be run: {words}")
