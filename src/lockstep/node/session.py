"""A session with one node: reads, and applies as one transaction each.

    session = Session(run)
    [file, service] = session.read([read_file(path), read_service("containerd")])
    write = write_file(path, new, replaces=content_of(file))
    applied = session.apply("containerd", [write, restart_service("containerd")])

`run` is whatever carries a command line and standard input to the node; the session knows nothing of Ansible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.node.contract import check_request
from lockstep.node.errors import node_error
from lockstep.node.operations import Operation, Result
from lockstep.node.wire import command_line, parse_reply, standard_input


@dataclass(frozen=True, slots=True)
class Completed:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


Runner = Callable[[str, bytes], Completed]
"""Runs a command line on the node with these bytes as its standard input."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A committed transaction: a result an operation, in order, and the backup files that were made."""

    results: tuple[Result, ...]
    backups: tuple[str, ...]

    @property
    def changed(self) -> bool:
        """Whether a file or a service's definition is another than before, or a service was restarted."""
        return any(result.get("changed", result["op"] == "service.restart") for result in self.results)


class Session:
    """Runs operations of the contract on one node, one request a call."""

    def __init__(self, run: Runner) -> None:
        self._run = run

    def read(self, operations: Sequence[Operation]) -> list[Result]:
        """Return one result an operation, in order.

        Raises NodeError for the first operation that failed, ProtocolError if the node did not answer, ContractError (a
        defect of the caller) if an operation is not of the contract.
        """
        response = self._exchange({"mode": "read", "operations": list(operations)})
        results: list[Result] = response["results"]
        return results

    def apply(self, transaction: str, operations: Sequence[Operation]) -> Applied:
        """Do all operations or none: on a failure the node is put back as it was, and NodeError tells why.

        Raises as `read` does. After a ProtocolError the node may be in the middle: `read_transaction` tells, applying
        again settles it.
        """
        response = self._exchange({"mode": "apply", "transaction": transaction, "operations": list(operations)})
        return Applied(tuple(response["results"]), tuple(response.get("backups", ())))

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        check_request(request)
        completed = self._run(command_line(), standard_input(request))
        response = parse_reply(request, completed.returncode, completed.stdout, completed.stderr)
        error = node_error(request["operations"], response)
        if error is not None:
            raise error
        return response
