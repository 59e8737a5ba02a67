"""What a service is to be, compared with the one that is registered: the step that makes it so, and both as text.

    desired = ServiceDefinition("containerd", start_type="automatic", depends_on=("hns",))
    refuse_other_program(system, observed, ("containerd.exe",))
    steps = definition_steps(observed, desired.running(command_line))
    diff = definition_diff(observed, desired.running(command_line))

`observed` is the result of `service.read`.
"""

from __future__ import annotations

import ntpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import Step, System, file_diff
from lockstep.kubelet.arguments import split
from lockstep.node.operations import Result, define_service
from lockstep.words import MASK

_UNQUOTED_PROGRAM = re.compile(r'\s*([^"]*?\.exe)(?=[ \t]|$)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Recovery:
    """What Windows does when a service fails: (action, delay in milliseconds) for the first, second, later times."""

    actions: tuple[tuple[str, int], ...] = ()
    reset_seconds: int = 0
    on_non_crash: bool = False

    def to_data(self) -> dict[str, Any]:
        """Return it as the contract has it."""
        actions = [{"action": action, "delay_milliseconds": delay} for action, delay in self.actions]
        return {"reset_seconds": self.reset_seconds, "actions": actions, "on_non_crash": self.on_non_crash}


@dataclass(frozen=True, slots=True)
class ServiceDefinition:
    """What a service is to be; None leaves what is registered.

    `environment` is merged with the variables that are there; one whose value is None is taken away. A service that is
    not there yet needs a `binary_path`.
    """

    name: str
    binary_path: str | None = None
    display_name: str | None = None
    description: str | None = None
    start_type: str | None = None
    depends_on: tuple[str, ...] | None = None
    environment: Mapping[str, str | None] | None = None
    recovery: Recovery | None = None

    @classmethod
    def of(cls, name: str, given: Mapping[str, Any]) -> ServiceDefinition:
        """Return the definition that a task's arguments state.

        `given` has any of display_name, description, start_type, depends_on, environment, recovery; None counts as not
        given. `recovery` has `actions` (each `action` and `delay` in seconds), `reset` in seconds and `on_non_crash`.
        """
        depends_on, recovery = given.get("depends_on"), given.get("recovery")
        return cls(
            name,
            display_name=given.get("display_name"),
            description=given.get("description"),
            start_type=given.get("start_type"),
            depends_on=None if depends_on is None else tuple(depends_on),
            environment=_environment_of(given.get("environment")),
            recovery=None if recovery is None else _recovery_of(recovery),
        )

    def running(self, binary_path: str) -> ServiceDefinition:
        """Return the same definition with this command line."""
        return replace(self, binary_path=binary_path)


def definition_problems(definition: ServiceDefinition) -> list[str]:
    """Return what no service can be like, each as `where: what is expected`."""
    problems = [
        f"recovery.actions[{index}]: expected a delay of at least 0 seconds, got {delay // 1000}"
        for index, (_, delay) in enumerate(definition.recovery.actions if definition.recovery else ())
        if delay < 0
    ]
    if definition.recovery and definition.recovery.reset_seconds < 0:
        problems.append(f"recovery.reset: expected at least 0 seconds, got {definition.recovery.reset_seconds}")
    problems += [
        f"environment: '{name}' is no name of a variable"
        for name in definition.environment or ()
        if not name or "=" in name
    ]
    if any(other.lower() == definition.name.lower() for other in definition.depends_on or ()):
        problems.append("depends_on: a service cannot depend on itself")
    return problems


def differences(observed: Result, definition: ServiceDefinition) -> dict[str, Any]:
    """Return the properties that have to be set, as `define_service` takes them; all of them where no service is."""
    wanted = _wanted(observed, definition)
    if not observed["exists"]:
        return wanted
    return {name: value for name, value in wanted.items() if _comparable(name, observed) != _comparable(name, wanted)}


def definition_steps(observed: Result, definition: ServiceDefinition, *, again: bool = False) -> list[Step]:
    """Return the one step that makes the service so, or none where it is; `again` states it all the same.

    `again` is for an interrupted run that is completed.
    """
    changes = differences(observed, definition)
    if not changes and not again:
        return []
    label = f"{'change' if observed['exists'] else 'register'} service {definition.name}"
    replaces = str(observed["binary_path"]) if observed["exists"] else None
    everything = changes if not again else _wanted(observed, definition)
    return [Step(label, define_service(definition.name, everything, replaces=replaces))]


def definition_diff(
    observed: Result, definition: ServiceDefinition, shown: Callable[[str], str] = str
) -> list[dict[str, str]]:
    """Return the `diff` entry for it, or none where nothing differs; `shown` masks secrets of a command line."""
    changes = differences(observed, definition)
    if not changes:
        return []
    after = {**observed, **changes, "exists": True}
    before = observed.get("environment") or ()
    texts = (definition_text(observed, shown), definition_text(after, shown, before))
    return [file_diff(f"service {definition.name}", *texts)]


def definition_text(service: Result, shown: Callable[[str], str] = str, former: Sequence[str] | None = None) -> str:
    """Return a service's definition as text for people, a property a line; empty where there is no service.

    Of a variable of its environment only the name is told, and that it has another value than among the `former` ones.
    """
    lines = _lines(service, shown, former)
    return "".join(f"{label:<15}{text}\n" for label, text in lines) if service["exists"] else ""


def program_of_line(line: str) -> str:
    """Return the program that a command line starts; an unquoted path may have spaces, as Windows itself takes it.

    Source: Microsoft Learn, CreateProcessW, lpApplicationName.
    """
    unquoted = _UNQUOTED_PROGRAM.match(line)
    if unquoted:
        return unquoted[1]
    arguments = split(line)
    return arguments[0].value if arguments else ""


def program_name(line: str) -> str:
    """Return the name of the program that a command line starts, in lower case; empty where it starts none."""
    return ntpath.basename(program_of_line(line)).lower()


def refuse_other_program(
    system: System, name: str, observed: Result, programs: Collection[str], *, option: str = "service"
) -> None:
    """Raise TaskError where the name is taken by a service that runs none of these programs (`containerd.exe`)."""
    if not observed["exists"]:
        return
    line = str(observed["binary_path"])
    if program_name(line) in {each.lower() for each in programs}:
        return
    facts = {
        "node": str(system),
        "service": f"{name}, which runs {program_of_line(line) or 'nothing'}",
        "do": f"set {option} to another name, or, if nobody needs that service, remove it (sc.exe delete {name}) "
        "and run again",
    }
    expected = " or ".join(programs)
    raise TaskError(f"the name {name} is taken by a service that does not run {expected}, so it was left alone", facts)


def _environment_of(given: Mapping[str, Any] | None) -> dict[str, str | None] | None:
    if given is None:
        return None
    return {str(name): None if value is None else str(value) for name, value in given.items()}


def _recovery_of(given: Mapping[str, Any]) -> Recovery:
    actions = tuple((each["action"], 1000 * each.get("delay", 0)) for each in given.get("actions") or ())
    return Recovery(actions, given.get("reset") or 0, bool(given.get("on_non_crash")))


def _wanted(observed: Result, definition: ServiceDefinition) -> dict[str, Any]:
    """Return every property that the definition states, as the contract has it."""
    wanted: dict[str, Any] = {
        "binary_path": definition.binary_path,
        "display_name": definition.display_name,
        "description": definition.description,
        "start_type": definition.start_type,
        "depends_on": None if definition.depends_on is None else list(definition.depends_on),
        "environment": _merged(observed.get("environment", ()), definition.environment),
        "recovery": definition.recovery.to_data() if definition.recovery else None,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _merged(there: Sequence[str], wanted: Mapping[str, str | None] | None) -> list[str] | None:
    """Return the variables with the wanted ones among them; Windows does not tell cases of their names apart."""
    if wanted is None:
        return None
    variables = {line.partition("=")[0].upper(): line for line in there}
    for name, value in wanted.items():
        variables.pop(name.upper(), None)
        if value is not None:
            variables[name.upper()] = f"{name}={value}"
    return list(variables.values())


def _comparable(name: str, properties: Mapping[str, Any]) -> Any:
    """Return a property so that what means the same is equal."""
    value = properties.get(name)
    match name:
        case "depends_on":
            return sorted(each.lower() for each in value or ())
        case "environment":
            return sorted(value or ())
        case "recovery":
            return value or Recovery().to_data()
        case "description":
            return value or ""
        case _:
            return value


def _lines(service: Result, shown: Callable[[str], str], former: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    yield "command line", shown(str(service.get("binary_path", "")))
    for label, key in (("display name", "display_name"), ("description", "description"), ("start", "start_type")):
        if service.get(key):
            yield label, str(service[key])
    if service.get("depends_on"):
        yield "depends on", ", ".join(service["depends_on"])
    for line in service.get("environment") or ():
        name, _, value = line.partition("=")
        was = {each.partition("=")[0].upper(): each.partition("=")[2] for each in former or ()}
        another = was.get(name.upper(), value) != value
        yield "environment", f"{name}={MASK}" + (" (another value)" if another else "")
    recovery = service.get("recovery")
    for number, each in enumerate(recovery["actions"] if recovery else (), start=1):
        yield f"failure {number}", f"{each['action']} after {each['delay_milliseconds'] / 1000:g} s"
    if recovery and recovery["actions"]:
        yield (
            "failures",
            f"counted anew after {recovery['reset_seconds']} s; "
            + ("an exit with an error counts too" if recovery["on_non_crash"] else "only a crash counts"),
        )
