"""Services: their state, stops and restarts with those that depend on them."""

from __future__ import annotations

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.operations.definitions import definition
from lockstep.sim.agent.restart import restart, stop
from lockstep.sim.agent.table import Apply, Context, Group, Kind, Operation, Result


def _read(context: Context, operation: Operation) -> Result:
    service = context.services.get(operation["name"])
    if service is None:
        return {"exists": False}
    return {
        "exists": True,
        "state": service.state,
        **definition(service),
        "account": service.account,
        "process_id": service.process_id,
        "exit_code": service.exit_code,
    }


def _former_run(context: Context, operation: Operation) -> list[Step]:
    name = operation["name"]
    service = context.services.get(name)
    state = {
        "running": service is not None and service.state != "stopped",
        "dependents": context.services.dependents(name) if service else [],
        "seconds": operation["timeout_seconds"],
        "settle": operation.get("settle_seconds", 0),
    }
    return [Step("restart", name, state)]


def _stop(context: Context, operation: Operation, step: Step) -> Result:
    services, name = context.services, operation["name"]
    service = services.get(name)
    if service is None:
        raise OperationError("missing", f"There is no service {name}.")
    running, dependents = service.state != "stopped", services.dependents(name)
    step.touched = True
    for one in (*dependents, name):
        stop(services, one, operation["timeout_seconds"])
    return {"changed": running, "stopped_dependents": dependents}


def _restart(context: Context, operation: Operation, step: Step) -> Result:
    step.touched = True
    seconds, settle = operation["timeout_seconds"], operation["settle_seconds"]
    return restart(context.services, operation["name"], step.state["dependents"], seconds, settle)


def _undo_restart(context: Context, step: Step) -> None:
    service, state = context.services.get(step.name), step.state
    if service is not None and state["running"]:
        restart(context.services, step.name, state["dependents"], state["seconds"], state["settle"], force=True)
    elif service is not None:
        stop(context.services, step.name, state["seconds"], force=True)


GROUP = Group(
    reads={"service.read": _read},
    applies={
        "service.stop": Apply(_stop, _former_run),
        "service.restart": Apply(_restart, _former_run),
    },
    kinds={
        # A service comes back up on top of the files and definitions that it reads.
        "restart": Kind(_undo_restart, renew=("seconds", "settle"), last=True),
    },
)
