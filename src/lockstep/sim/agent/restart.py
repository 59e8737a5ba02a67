"""Restarting services as the agent does.

Dependents stopped first, then waited for, then watched until they have settled.
"""

from __future__ import annotations

from typing import Any

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.services import Services, StartError


def restart(
    services: Services, name: str, dependents: list[str], seconds: float, settle: float, *, force: bool = False
) -> dict[str, Any]:
    """Restart a service and what depends on it: `process_id` and `restarted_dependents`; raises OperationError.

    `dependents` are started too, running or not: an interrupted restart had stopped them. `force` ends what does
    not stop.
    """
    service = services.get(name)
    if service is None:
        raise OperationError("missing", f"There is no service {name}.")
    named = [other.lower() for other in dependents]
    running = services.dependents(name)
    stopping = [other for other in services.all_dependents(name) if other in running or other.lower() in named]
    for other in stopping:
        stop(services, other, seconds, force=force)
    stop(services, name, seconds, force=force)
    process_id = start(services, name, seconds, settle)
    starting = stopping[::-1]
    for other in starting:
        dependent = services.get(other)
        if dependent is not None and dependent.state == "stopped":
            start(services, other, seconds, 0)
    return {"process_id": process_id, "restarted_dependents": starting}


def stop(services: Services, name: str, seconds: float, *, force: bool = False) -> None:
    """Stop a service, or end its process where `force` says so and it does not stop in time; raises OperationError."""
    state = services.wait(name, ("running", "stopped", "paused"), seconds)
    if state in ("running", "paused"):
        services.stop(name)
        state = services.wait(name, ("stopped",), seconds)
    if state == "stopped":
        return
    if not force:
        raise OperationError("timeout", f"{name} did not stop within {seconds:g} s: it is {state}.")
    services.kill(name)


def start(services: Services, name: str, seconds: float, settle: float) -> int:
    """Start a service, wait until it runs and has stayed up; its process id. Raises OperationError."""
    try:
        services.start(name)
    except StartError as error:
        raise _failed(services, name, f"did not start: {error.words}{_not_running(services, name)}", None) from None
    state = services.wait(name, ("running", "stopped"), seconds)
    if state == "stopped":
        raise _failed(services, name, "did not start: it stopped", None)
    if state != "running":
        raise OperationError("timeout", f"{name} did not come up within {seconds:g} s: it is {state}.")
    began = services.now()
    if services.wait(name, ("stopped",), settle) == "stopped":
        up = services.now() - began
        raise _failed(services, name, f"stopped {up:.1f} s after it had started", up)
    service = services.get(name)
    return service.process_id if service is not None else 0


def _not_running(services: Services, name: str) -> str:
    """Return which of the services that it depends on do not run, as a part of a sentence."""
    service, found = services.get(name), ""
    for other in service.depends_on if service is not None else ():
        if other.startswith("+"):
            continue
        needed = services.get(other)
        if needed is None:
            found += f" (it depends on {other}, which is not registered)"
        elif needed.state != "running":
            found += f" (it depends on {other}, which is {needed.state}, exit code {needed.exit_code})"
    return found


def _failed(services: Services, name: str, what: str, after: float | None) -> OperationError:
    service = services.get(name)
    code = service.exit_code if service is not None else 0
    more: dict[str, Any] = {"exit_code": code}
    if after is not None:
        more["after_seconds"] = round(after, 1)
    return OperationError("service_failed", f"{name} {what}, with exit code {code}.", **more)
