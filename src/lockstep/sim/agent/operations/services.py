"""Services: their state, their command line, and restarts with those that depend on them."""

from __future__ import annotations

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.restart import restart, stop
from lockstep.sim.agent.table import Apply, Context, Group, Kind, Operation, Result


def _read(context: Context, operation: Operation) -> Result:
    service = context.services.get(operation["name"])
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


def _former_definition(context: Context, operation: Operation) -> list[Step]:
    service = context.services.get(operation["name"])
    return [Step("definition", operation["name"], {"former": service.binary_path if service else ""})]


def _configure(context: Context, operation: Operation, step: Step) -> Result:
    name = operation["name"]
    service = context.services.get(name)
    if service is None:
        raise OperationError("missing", f"There is no service {name}.")
    if service.binary_path == operation["binary_path"]:
        return {"changed": False}
    if service.binary_path != operation["expect_binary_path"]:
        raise OperationError("conflict", f"The command line of {name} was changed by somebody else since it was read.")
    step.touched = True
    context.services.configure(name, operation["binary_path"])
    return {"changed": True}


def _undo_definition(context: Context, step: Step) -> None:
    service, former = context.services.get(step.name), step.state["former"]
    if service is not None and former and service.binary_path != former:
        context.services.configure(step.name, former)


def _former_run(context: Context, operation: Operation) -> list[Step]:
    name = operation["name"]
    service = context.services.get(name)
    state = {
        "running": service is not None and service.state != "stopped",
        "dependents": context.services.dependents(name) if service else [],
        "seconds": operation["timeout_seconds"],
        "settle": operation["settle_seconds"],
    }
    return [Step("restart", name, state)]


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
        "service.configure": Apply(_configure, _former_definition),
        "service.restart": Apply(_restart, _former_run),
    },
    kinds={
        "definition": Kind(_undo_definition),
        # A service comes back up on top of the files and definitions that it reads.
        "restart": Kind(_undo_restart, renew=("seconds", "settle"), last=True),
    },
)
