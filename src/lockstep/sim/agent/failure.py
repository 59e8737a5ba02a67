"""An operation that fails: an error of the contract."""

from __future__ import annotations

from typing import Any

from lockstep.sim.disk import DiskError


class Failure(Exception):
    """A failed operation: the contract's code, the node's words, and what else the error holds."""

    def __init__(self, code: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.error: dict[str, Any] = {"code": code, "message": message, **more}


def failure_of(error: DiskError | Failure) -> Failure:
    """Any refusal as a Failure."""
    return error if isinstance(error, Failure) else Failure(error.code, error.message)
