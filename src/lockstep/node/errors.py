"""What can go wrong on a node, told so that a person can act on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lockstep.node.operations import Operation, Result


class AgentError(Exception):
    """Anything that kept the agent from doing what was asked."""


class ProtocolError(AgentError):
    """What came back is no reply of the agent. The text holds what was seen, and what to do."""


@dataclass(eq=False)
class NodeError(AgentError):
    """The node refused or failed an operation.

    `step` is the operation's index (None: the request as a whole), `code` one of the contract's errors, `message` the
    node's own words. `rolled_back` is None where nothing had been changed (a read), True where everything is as it was,
    else False, with the reasons in `rollback_errors`: without any, what came before was applied and stays. `rejected`
    names files that keep content that was rolled back. `results` are those of the operations before it.
    """

    step: int | None
    operation: str
    subject: str
    code: str
    message: str
    exit_code: int | None = None
    output: str = ""
    after_seconds: float | None = None
    rolled_back: bool | None = None
    rollback_errors: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()

    def __str__(self) -> str:
        lines = [" ".join(part for part in (self.operation, self.subject) if part) + f": {self.message} [{self.code}]"]
        if self.output:
            lines += ["It printed:", *(f"  {line}" for line in self.output.splitlines())]
        if self.rolled_back:
            lines.append("Everything on the node is as it was before.")
        elif self.rolled_back is False and not self.rollback_errors:
            lines.append("Everything before it is applied, and stays.")
        elif self.rolled_back is False:
            lines.append(
                "Not everything is as it was before. Running again, when the cause is gone, settles it. What is left:"
            )
            lines += [f"  {reason}" for reason in self.rollback_errors]
        if self.rejected:
            lines.append(f"What was rejected is kept in {', '.join(self.rejected)}")
        return "\n".join(lines)


def subject_of(operation: Operation) -> str:
    """Return what an operation is about: a path, a service, a transaction. Never content."""
    if "key" in operation:
        return f"{operation['key']}\\{operation['name']}"
    named = (operation.get(key) for key in ("path", "sibling", "service", "name"))
    return next((name for name in named if isinstance(name, str)), "")


def node_error(operations: list[Operation], response: dict[str, Any]) -> NodeError | None:
    """Return the error that a response of the agent tells of, or None if all went well."""
    results: list[Result] = response["results"]
    failed = next((index for index, result in enumerate(results) if not result["ok"]), None)
    if failed is None and response["ok"]:
        return None
    error = response["error"] if failed is None else results[failed]["error"]
    return NodeError(
        step=failed,
        operation="request" if failed is None else operations[failed]["op"],
        subject="" if failed is None else subject_of(operations[failed]),
        code=error["code"],
        message=error["message"],
        exit_code=error.get("exit_code"),
        output=error.get("output", ""),
        after_seconds=error.get("after_seconds"),
        rolled_back=response.get("rolled_back"),
        rollback_errors=tuple(response.get("rollback_errors", ())),
        rejected=tuple(response.get("rejected", ())),
        results=tuple(results[:failed]),
    )
