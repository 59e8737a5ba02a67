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
from lockstep.node.remembered import Cache, Remembered, keeps, key, once
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
    """Runs operations of the contract on one node, at most one request a call.

    With a cache, what was read since the last change is not asked again, unless the session is to read `anew`; after
    an apply of its own a session neither asks the cache nor fills it, so that it sees what becomes of the node.
    `before_change` is called before its first apply, and prevents it by what it raises.
    """

    def __init__(
        self,
        run: Runner,
        cache: Cache | None = None,
        *,
        anew: bool = False,
        before_change: Callable[[], None] | None = None,
    ) -> None:
        self._run = run
        self._cache = cache
        self._anew = anew
        self._before_change = before_change
        self.applied = False
        """Whether this session has sent an apply."""
        self.remembered = False
        """Whether an answer of this session came from the cache."""

    def read(self, operations: Sequence[Operation]) -> list[Result]:
        """Return one result an operation, in order.

        Raises NodeError for the first operation that failed, ProtocolError if the node did not answer, ContractError (a
        defect of the caller) if an operation is not of the contract.
        """
        results = self.observe(operations)
        error = node_error(list(operations), {"ok": True, "results": results})
        if error is not None:
            raise error
        return results

    def observe(self, operations: Sequence[Operation]) -> list[Result]:
        """Return one result an operation, in order, failed ones too: their `ok` is false, and `error` says why.

        Raises as `read` does, NodeError for the request as a whole only.
        """
        cache = None if self.applied else self._cache
        since = Remembered() if cache is None else cache.remembered()
        known = {} if self._anew else dict(since.results)
        self.remembered = self.remembered or any(key(operation) in known for operation in operations)
        missing = once(operation for operation in operations if key(operation) not in known)
        if missing:
            response = self._exchange({"mode": "read", "operations": missing})
            error = None if response["ok"] else node_error(missing, response)
            if error is not None:
                raise error
            answers = {key(asked): result for asked, result in zip(missing, response["results"], strict=True)}
            known |= answers
            if cache is not None:
                cache.keep(since, {asked: result for asked, result in answers.items() if keeps(result)})
        return [known[key(operation)] for operation in operations]

    def apply(self, transaction: str, operations: Sequence[Operation]) -> Applied:
        """Do all operations or none: on a failure the node is put back as it was, and NodeError tells why.

        Raises as `read` does. After a ProtocolError the node may be in the middle: `read_transaction` tells, applying
        again settles it.
        """
        request: dict[str, Any] = {"mode": "apply", "transaction": transaction, "operations": list(operations)}
        if self._before_change is not None and not self.applied:
            self._before_change()
        self.applied = True
        self.forget()
        try:
            response = self._exchange(request)
        finally:
            # Once more, because others may have read while the change was made.
            self.forget()
        error = node_error(request["operations"], response)
        if error is not None:
            raise error
        return Applied(tuple(response["results"]), tuple(response.get("backups", ())))

    def forget(self) -> None:
        """Have everything read anew, by this session and by later ones."""
        if self._cache is not None:
            self._cache.drop()

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        check_request(request)
        completed = self._run(command_line(), standard_input(request))
        return parse_reply(request, completed.returncode, completed.stdout, completed.stderr)
