"""Requests of the contract, carried out on a simulated node."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from lockstep.node.contract import CONTRACT_VERSION, ContractError, check_request
from lockstep.sim.agent import programs
from lockstep.sim.agent.failure import OperationError, fail_as_told, failure_of
from lockstep.sim.agent.files import Files, sha256
from lockstep.sim.agent.journal import pending
from lockstep.sim.agent.transaction import Transaction
from lockstep.sim.disk import DiskError
from lockstep.sim.faults import Faults
from lockstep.sim.machine import Machine
from lockstep.sim.services import Services

_DEFAULT_MAX_BYTES = 10 * 1024 * 1024


class Agent:
    """The agent of one simulated node."""

    def __init__(self, machine: Machine, services: Services, faults: Faults) -> None:
        self._machine = machine
        self._services = services
        self._faults = faults
        self._files = Files(machine.disk, machine.clock)
        self._reads: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "system.read": self._system,
            "file.read": self._file,
            "service.read": self._service,
            "program.run": lambda operation: programs.report(self._machine, self._services, operation),
            "transaction.read": lambda operation: {"pending": pending(self._files, operation["name"])},
        }

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the response to a request, refused ones included.

        Raises PowerLost where the node goes down in between.
        """
        mode = "apply" if isinstance(request, Mapping) and request.get("mode") == "apply" else "read"
        head = {"contract": CONTRACT_VERSION, "mode": mode}
        try:
            check_request(request)
            _check_content(request)
        except ContractError as error:
            return {**head, "ok": False, "results": [], "error": {"code": "invalid", "message": str(error)}}
        if mode == "apply":
            transaction = Transaction(self._machine, self._services, self._files, self._faults)
            return {**head, **transaction.apply(request)}
        return {**head, "ok": True, "results": [self._read(operation) for operation in request["operations"]]}

    def _read(self, operation: Mapping[str, Any]) -> dict[str, Any]:
        op = operation["op"]
        try:
            fail_as_told(self._faults, op)
            return {"op": op, "ok": True, **self._reads[op](operation)}
        except (DiskError, OperationError) as error:
            return {"op": op, "ok": False, "error": failure_of(error).error}

    def _system(self, _: Mapping[str, Any]) -> dict[str, Any]:
        facts = self._machine.facts
        return {"build": facts.build, "product": facts.product, "computer_name": facts.computer_name}

    def _file(self, operation: Mapping[str, Any]) -> dict[str, Any]:
        path = operation["path"]
        data = self._files.read(
            self._files.half_exchanged(path) or path, operation.get("max_bytes", _DEFAULT_MAX_BYTES)
        )
        if data is None:
            return {"exists": False}
        return {"exists": True, "size": len(data), "sha256": sha256(data), "content": base64.b64encode(data).decode()}

    def _service(self, operation: Mapping[str, Any]) -> dict[str, Any]:
        service = self._services.get(operation["name"])
        if service is None:
            return {"exists": False}
        return {
            "exists": True,
            "state": service.state,
            "start_type": service.start_type,
            "binary_path": service.binary_path,
            "process_id": service.process_id,
            "exit_code": service.exit_code,
        }


def _check_content(request: Mapping[str, Any]) -> None:
    """Return what the contract says in words only: content is base64. Raises ContractError."""
    for operation in request["operations"]:
        try:
            base64.b64decode(operation.get("content", ""), validate=True)
        except ValueError:
            raise ContractError(f"The content for {operation['path']} is not base64.") from None
