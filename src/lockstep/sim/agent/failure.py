"""An operation that fails: an error of the contract."""

from __future__ import annotations

from typing import Any

from lockstep.sim.disk import DiskError
from lockstep.sim.faults import Faults


class OperationError(Exception):
    """A failed operation: the contract's code, the node's words, and what else the error holds."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.error: dict[str, Any] = {"code": code, "message": message, **more}


def failure_of(error: DiskError | OperationError) -> OperationError:
    """Any refusal as a OperationError."""
    return error if isinstance(error, OperationError) else OperationError(error.code, error.message)


def fail_as_told(faults: Faults, op: str) -> None:
    """Count an operation against the armed faults; raises OperationError where it is to fail now."""
    fault = faults.operation(op)
    if fault is not None:
        raise OperationError(fault["code"], fault.get("message", f"{op} fails, as it was told to."))
