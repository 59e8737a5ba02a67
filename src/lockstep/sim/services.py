"""The service control manager of a simulated node, with its database in services.json.

Sources: Microsoft Learn, Service Control Manager (start order, dependencies, SERVICE_STATUS); winerror.h for the
numbers.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from lockstep.sim import command_line
from lockstep.sim.disk import DiskError
from lockstep.sim.documents import read_json, write_json
from lockstep.sim.faults import Faults
from lockstep.sim.machine import ExitError, Machine, PausedError
from lockstep.sim.programs import NotAProgramError, find
from lockstep.sim.steps import Steps

FILE_NOT_FOUND = 2
REQUEST_TIMEOUT = 1053
"""The process ended, or said nothing, before it reported to the service manager."""
DISABLED = 1058
PROCESS_ABORTED = 1067
"""The process of a running service ended without reporting a stop."""
DEPENDENCY_FAILED = 1068
DEPENDENCY_MISSING = 1075
BAD_PROGRAM = 193
NEVER_STARTED = 1077

MESSAGES: Mapping[int, str] = {
    FILE_NOT_FOUND: "The system cannot find the file specified",
    BAD_PROGRAM: "%1 is not a valid Win32 application",
    REQUEST_TIMEOUT: "The service did not respond to the start or control request in a timely fashion",
    DISABLED: (
        "The service cannot be started, either because it is disabled or because it has no enabled devices "
        "associated with it"
    ),
    PROCESS_ABORTED: "The process terminated unexpectedly",
    DEPENDENCY_FAILED: "The dependency service or group failed to start",
    DEPENDENCY_MISSING: "The dependency service does not exist or has been marked for deletion",
}


class StartError(Exception):
    """A service did not start: Windows' number and words."""

    def __init__(self, name: str, number: int) -> None:
        super().__init__(f"{MESSAGES[number]} ({number})")
        self.name = name
        self.words = MESSAGES[number]
        self.number = number


@dataclass(slots=True)
class Service:
    """One registered service. `start_type`, `environment` and `recovery` are as the contract has them.

    `ends` says when, and with which code, its process will die by itself; `deaf` that it does not stop when told to.
    """

    name: str
    display_name: str
    binary_path: str
    start_type: str = "automatic"
    depends_on: list[str] = field(default_factory=list)
    description: str = ""
    account: str = "LocalSystem"
    environment: list[str] = field(default_factory=list)
    recovery: dict[str, Any] | None = None
    state: str = "stopped"
    process_id: int = 0
    exit_code: int = NEVER_STARTED
    started_at: float = 0.0
    ended_at: float = 0.0
    ends: dict[str, float] | None = None
    deaf: bool = False


class Services:
    """The services of one node. Names are found whatever their case."""

    def __init__(self, path: Path, machine: Machine, faults: Faults, steps: Steps) -> None:
        self._path = path
        self._machine = machine
        self._faults = faults
        self._step = steps
        loaded = read_json(path) or {}
        self._all = {name.lower(): Service(name=name, **values) for name, values in loaded.items()}

    @property
    def node_name(self) -> str:
        """The name of the node whose services these are."""
        return self._machine.facts.name

    def add(self, *services: Service) -> None:
        """Register services; one that is registered already keeps its place in the order and nothing else."""
        self._all |= {service.name.lower(): service for service in services}
        self._save()

    def remove(self, name: str) -> None:
        """Take a service out of the database; it is stopped already."""
        del self._all[name.lower()]
        self._save()

    def get(self, name: str) -> Service | None:
        """Return a service as it is now."""
        self._pass_time()
        return self._all.get(name.lower())

    def names(self) -> list[str]:
        """Return the registered services."""
        return [service.name for service in self._all.values()]

    def configure(self, name: str, binary_path: str) -> None:
        """Set the command line that the next start uses."""
        self.redefine(name, binary_path=binary_path)

    def redefine(self, name: str, **definition: Any) -> None:
        """Set what a service is defined as, by the names of Service's fields; the next start uses it."""
        service = self._all[name.lower()]
        self._step(f"configure service {service.name}")
        for key, value in definition.items():
            setattr(service, key, value)
        self._save()

    def dependents(self, name: str) -> list[str]:
        """Return the services to stop before this one: all that depend on it and are not stopped, in that order."""
        self._pass_time()
        return [other for other in self.all_dependents(name) if self._all[other.lower()].state != "stopped"]

    def all_dependents(self, name: str) -> list[str]:
        """Return the services that need this one, by way of others too, whatever their state, in the order to stop."""
        found: list[str] = []
        for service in self._all.values():
            if name.lower() in (other.lower() for other in service.depends_on):
                found += [other for other in [*self.all_dependents(service.name), service.name] if other not in found]
        return found

    def now(self) -> float:
        """Return the node's time."""
        return self._machine.clock.now()

    def wait(self, name: str, states: tuple[str, ...], seconds: float) -> str:
        """Wait until a service is in one of these states, at most so long; its state then."""
        service = self._all[name.lower()]
        self._pass_time()
        if service.state in states:
            return service.state
        left = seconds
        if service.ends is not None:
            left = min(left, max(service.ends["at"] - self.now(), 0.0))
        self._machine.clock.sleep(left)
        self._pass_time()
        return service.state

    def stop(self, name: str) -> None:
        """Stop a service; its dependents are stopped already."""
        self._pass_time()
        service = self._all[name.lower()]
        if service.state == "stopped":
            return
        self._step(f"stop service {service.name}")
        if service.deaf:
            service.state = "stop_pending"
        else:
            self._end(service, 0)
        self._save()

    def kill(self, name: str) -> None:
        """End the process of a service, whatever it is doing."""
        service = self._all[name.lower()]
        self._step(f"end the process of service {service.name}")
        self._end(service, PROCESS_ABORTED)
        self._save()

    def start(self, name: str) -> Service:
        """Start a service and what it depends on; raises StartError. It may still be start_pending, or die later."""
        self._pass_time()
        service = self._all[name.lower()]
        if service.state != "stopped":
            return service
        if service.start_type == "disabled":
            raise StartError(service.name, DISABLED)
        for other in service.depends_on:
            if other.lower() not in self._all:
                raise StartError(service.name, DEPENDENCY_MISSING)
            try:
                self.start(other)
            except StartError:
                raise StartError(service.name, DEPENDENCY_FAILED) from None
        self._step(f"start service {service.name}")
        service.started_at, service.ends, service.deaf = self.now(), None, False
        try:
            self._launch(service)
        finally:
            self._save()
        return service

    def boot(self) -> None:
        """Power came back: nothing runs, then every automatic service starts on what is on the disk."""
        for service in self._all.values():
            self._end(service, service.exit_code)
        for service in list(self._all.values()):
            if service.start_type not in ("automatic", "delayed"):
                continue
            try:
                self.start(service.name)
            except StartError as error:
                self._machine.log_event(
                    f"The {service.name} service failed to start due to the following error: {error}"
                )
        self._save()

    def halt(self) -> None:
        """Power is gone: processes are gone too."""
        for service in self._all.values():
            self._machine.remember(service.name, None)

    def _launch(self, service: Service) -> None:
        fault = self._faults.service(service.name) or {}
        does = fault.get("does")
        if does == "exits":
            self._fail(service, REQUEST_TIMEOUT)
        if does == "hangs":
            service.state, service.process_id = "start_pending", _process_id()
            return
        argv = command_line.split(service.binary_path)
        try:
            program = find(self._machine, argv[0]) if argv else None
        except (NotAProgramError, DiskError):
            self._fail(service, BAD_PROGRAM)
        if program is None:
            self._fail(service, FILE_NOT_FOUND)
        self._machine.starting = service.name
        try:
            memory = program.serve(self._machine, argv[1:])
        except PausedError as error:
            self._machine.log_event(f"{service.name}: {error}")
            service.state, service.process_id, service.exit_code = "paused", _process_id(), 0
            return
        except ExitError as error:
            self._machine.log_event(f"{service.name}: {error.words}")
            if error.before_ready:
                self._fail(service, REQUEST_TIMEOUT)
            does, fault = "dies", {"after_seconds": 0.2, "exit_code": PROCESS_ABORTED}
            memory = {}
        service.state, service.process_id, service.exit_code = "running", _process_id(), 0
        service.deaf = does == "deaf"
        if does == "dies":
            after = float(fault.get("after_seconds", 1.0))
            code = int(fault.get("exit_code", PROCESS_ABORTED))
            service.ends = {"at": self.now() + after, "exit_code": code}
        self._machine.remember(service.name, memory)

    def _fail(self, service: Service, number: int) -> NoReturn:
        service.state, service.process_id, service.exit_code = "stopped", 0, number
        raise StartError(service.name, number)

    def _pass_time(self) -> None:
        """Let processes die whose time has come."""
        for service in self._all.values():
            if service.ends is not None and service.state != "stopped" and self.now() >= service.ends["at"]:
                self._machine.log_event(f"The {service.name} service terminated unexpectedly.")
                ended = service.ends["at"]
                self._end(service, int(service.ends["exit_code"]))
                service.ended_at = ended
                self._save()

    def _end(self, service: Service, exit_code: int) -> None:
        service.state, service.process_id, service.exit_code, service.ends = "stopped", 0, exit_code, None
        service.ended_at = self.now()
        self._machine.remember(service.name, None)

    def _save(self) -> None:
        document: dict[str, Any] = {}
        for service in self._all.values():
            values = asdict(service)
            document[values.pop("name")] = values
        write_json(self._path, document)


def _process_id() -> int:
    # Windows' process ids are multiples of four; which one a process gets means nothing.
    return random.randrange(1000, 16000) * 4  # noqa: S311
