"""What a service is registered as: made, changed, and put back whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lockstep.node.contract import ContractError
from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.operations.registry import STATE, find
from lockstep.sim.agent.restart import stop
from lockstep.sim.agent.table import Apply, Context, Group, Kind, Operation, Result
from lockstep.sim.services import Service

KEYS = ("binary_path", "display_name", "description", "start_type", "depends_on", "environment", "recovery")
_SERVICES = "SYSTEM\\CurrentControlSet\\Services"


def definition(service: Service) -> dict[str, Any]:
    """Return a service's definition, with the keys of service.define."""
    values = asdict(service)
    return {key: values[key] for key in KEYS}


def _differences(service: Service, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is wanted and not so."""
    found = definition(service)
    given = {key: wanted[key] for key in KEYS if key in wanted}
    if "recovery" in given and not (given["recovery"] or {}).get("actions"):
        # Without an action there is nothing to recover by.
        given["recovery"] = None
    return {key: value for key, value in given.items() if not _same(key, found[key], value)}


def _same(key: str, one: Any, other: Any) -> bool:
    if key == "depends_on":
        return sorted(name.lower() for name in one) == sorted(name.lower() for name in other)
    return bool(one == other)


def _check(operation: Operation) -> None:
    if "\\" in operation["name"] or "/" in operation["name"]:
        raise ContractError(f"'{operation['name']}' is no name for a service.")


def _former(context: Context, operation: Operation) -> list[Step]:
    service = context.services.get(operation["name"])
    state = {"existed": False} if service is None else {"existed": True, "former": definition(service)}
    return [Step("definition", operation["name"], state)]


def _define(context: Context, operation: Operation, step: Step) -> Result:
    name = operation["name"]
    service = context.services.get(name)
    if service is None:
        return _create(context, operation, step)
    different = _differences(service, operation)
    if not different:
        return {"changed": False, "created": False}
    if find(context.state(STATE), f"{_SERVICES}\\{name}", "DeleteFlag").get("value") == 1:
        raise OperationError(
            "io",
            f"{name} was deleted, and is still there because some program has it open: close what shows services "
            "(services.msc, Task Manager), or restart Windows, then run again.",
        )
    if service.binary_path not in (operation["expect_binary_path"], operation.get("binary_path")):
        raise OperationError("conflict", f"The command line of {name} was changed by somebody else since it was read.")
    step.touched = True
    context.services.redefine(name, **different)
    return {"changed": True, "created": False}


def _create(context: Context, operation: Operation, step: Step) -> Result:
    name = operation["name"]
    if operation["expect_binary_path"] is not None:
        raise OperationError("missing", f"There is no service {name}.")
    if "binary_path" not in operation:
        raise OperationError("missing", f"There is no service {name}, and no command line to register it with.")
    step.touched = True
    context.steps(f"create service {name}")
    service = Service(name, name, operation["binary_path"], operation.get("start_type", "manual"))
    context.services.add(service)
    different = _differences(service, operation)
    if different:
        context.services.redefine(name, **different)
    return {"changed": True, "created": True}


def _undo(context: Context, step: Step) -> None:
    services, service = context.services, context.services.get(step.name)
    if step.state["existed"]:
        if service is None:
            raise OperationError("missing", f"There is no service {step.name} any more.")
        different = _differences(service, step.state["former"])
        if different:
            services.redefine(step.name, **different)
    elif service is not None:
        for name in (*services.dependents(step.name), step.name):
            stop(services, name, 30, force=True)
        context.steps(f"delete service {step.name}")
        services.remove(step.name)


GROUP = Group(
    applies={"service.define": Apply(_define, _former, _check)},
    kinds={"definition": Kind(_undo)},
)
