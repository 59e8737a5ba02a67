"""The engine that runs the received command lines with a real PowerShell, given as a command."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import BinaryIO

from lockstep.sim import command_line
from lockstep.sim.engine import Completed

_NAMES = ("powershell", "powershell.exe")


class PowerShellEngine:
    """Runs `PowerShell …` as COMMAND with the same arguments; anything else is refused.

    `{node}` and `{state}` in the command stand for the node's name and its folder, so that one command serves
    many nodes.
    """

    def __init__(self, command: str, node: str, folder: Path) -> None:
        """Return raises ValueError for a command that is none."""
        try:
            words = shlex.split(command)
            self._command = [word.replace("{node}", node).replace("{state}", str(folder)) for word in words]
        except ValueError as error:
            raise ValueError(f"the PowerShell command {command!r} cannot be read: {error}") from None
        if not self._command:
            raise ValueError("the PowerShell command is empty")

    def execute(self, line: str, stdin: bytes) -> Completed:
        """Run a command line to its end."""
        program, *arguments = command_line.split(line) or [""]
        if program.lower() not in _NAMES:
            words = (
                f"'{program}' is not recognized: lockstep sim's powershell engine runs PowerShell and nothing else.\r\n"
            )
            return Completed(1, b"", words.encode())
        command = [*self._command, *arguments]
        # Files, because a pipe ends with its last writer: with a service that this command happened to start, perhaps.
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            try:
                # Running what an authenticated client sends is what this engine is for; it listens on loopback.
                done = subprocess.run(command, input=stdin, stdout=output, stderr=errors, check=False)  # noqa: S603
            except OSError as error:
                return Completed(1, b"", f"{self._command[0]} does not start: {error.strerror}\r\n".encode())
            return Completed(done.returncode, _content(output), _content(errors))


def _content(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()
