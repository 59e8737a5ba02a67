"""What stands behind the WinRM front: something that runs a command line with input, as a node would."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Completed(NamedTuple):
    """A finished command: exit code, standard output, standard error."""

    exit_code: int
    stdout: bytes
    stderr: bytes


class PowerLost(Exception):  # noqa: N818 - what happens to a node, not a mistake
    """The node lost power while it worked: nothing after this moment happened on it."""


class Engine(Protocol):
    """Runs command lines on one node."""

    def execute(self, command_line: str, stdin: bytes) -> Completed:
        """Run a command line to its end; raises PowerLost when the node goes down in between."""
