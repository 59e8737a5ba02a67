"""Requests of the contract, carried out on a simulated node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.node.contract import CONTRACT_VERSION, ContractError, check_request
from lockstep.sim.agent.failure import OperationError, fail_as_told, failure_of
from lockstep.sim.agent.files import Files
from lockstep.sim.agent.operations import APPLIES, READS
from lockstep.sim.agent.table import Context, Operation, Result
from lockstep.sim.agent.transaction import Transaction
from lockstep.sim.disk import DiskError
from lockstep.sim.faults import Faults
from lockstep.sim.machine import Machine
from lockstep.sim.services import Services
from lockstep.sim.steps import Steps


class Agent:
    """The agent of one simulated node."""

    def __init__(self, machine: Machine, services: Services, faults: Faults, steps: Steps) -> None:
        self._machine = machine
        self._services = services
        self._faults = faults
        self._steps = steps

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the response to a request, refused ones included.

        Raises PowerLost where the node goes down in between.
        """
        mode = "apply" if isinstance(request, Mapping) and request.get("mode") == "apply" else "read"
        head = {"contract": CONTRACT_VERSION, "mode": mode}
        try:
            check_request(request)
            _check_further(request)
        except ContractError as error:
            return {**head, "ok": False, "results": [], "error": {"code": "invalid", "message": str(error)}}
        files = Files(self._machine.disk, self._machine.clock)
        context = Context(self._machine, self._services, files, self._faults, self._steps)
        if mode == "apply":
            return {**head, **Transaction(context).apply(request)}
        return {**head, "ok": True, "results": [_read(context, operation) for operation in request["operations"]]}


def _read(context: Context, operation: Operation) -> Result:
    op = operation["op"]
    try:
        fail_as_told(context.faults, op)
        return {"op": op, "ok": True, **READS[op](context, operation)}
    except (DiskError, OperationError) as error:
        return {"op": op, "ok": False, "error": failure_of(error).error}


def _check_further(request: Mapping[str, Any]) -> None:
    """Check what the contract says in words only; raises ContractError."""
    left = len(request["operations"])
    for operation in request["operations"]:
        left -= 1
        op = operation["op"]
        if op not in (APPLIES if request["mode"] == "apply" else READS):
            raise ContractError(f"'{op}' is no operation of mode {request['mode']}.")
        if op not in APPLIES:
            continue
        apply = APPLIES[op]
        if apply.after_commit and left:
            raise ContractError(f"{op} must be the last operation.")
        if apply.check is not None:
            apply.check(operation)
