"""The service that runs containerd: its command line and definition as they are to be, and the steps to that.

Sources: containerd cmd/containerd/command/service_windows.go: registerService (what `--register-service` makes), and
registerUnregisterService: --log-file is read only with --run-service, and the file is only ever appended to.
"""

from __future__ import annotations

import ntpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.ansible.command_line import flag_value, with_flag
from lockstep.ansible.containerd.node import CONTAINERD, KEEP, LOG_FILE, ContainerdNode, managed
from lockstep.ansible.errors import TaskError, in_role, listed
from lockstep.ansible.node import Step, file_diff, same_path
from lockstep.ansible.service_definition import (
    ServiceDefinition,
    definition_diff,
    definition_problems,
    definition_steps,
    differences,
    program_of_line,
    refuse_other_program,
)
from lockstep.k8s.quantities import QuantityError
from lockstep.kubelet import nssm
from lockstep.kubelet.arguments import join, quote, split
from lockstep.node.operations import ensure_folder, remove_registry, write_registry

AUTO, NONE, NSSM = "auto", "none", "nssm"
"""What starts containerd, as the argument `wrapper` says it."""
_SERVICE_NAME = "containerd"
"""Source: service_windows.go, defaultServiceName."""
_RUN_FLAGS = ("--run-service", "-run-service")
_LOG_FLAGS = ("--log-file", "-log-file")
_LEVEL_FLAGS = ("--log-level", "-log-level", "--l", "-l")
_LOG_SIZE = "100Mi"
_FRESH: Mapping[str, Any] = {
    "display_name": "Containerd",
    "description": "Container runtime",
    "start_type": "automatic",
    "recovery": {
        "actions": [{"action": "restart", "delay": seconds} for seconds in (15, 15, 60)],
        "reset": 24 * 60 * 60,
        "on_non_crash": False,
    },
}
"""What a service that is new is like where the task does not say otherwise: as containerd registers itself, but that
Windows does not give up after two failures a day. Source: service_windows.go, registerService."""
_RESTARTING = {"binary_path", "environment"}
"""What a running service has only when it is started again."""


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """What is to be done to the service before it is restarted; `restart` says whether it has to be."""

    steps: tuple[Step, ...] = ()
    diff: tuple[dict[str, str], ...] = ()
    restart: bool = False


def refuse_wrong_service(arguments: Mapping[str, Any]) -> None:
    """Raise TaskError for what no service can be like; nothing is asked of the node."""
    problems = [*definition_problems(_definition(arguments)), *_problems(arguments)]
    if problems:
        raise TaskError(listed("the service cannot be like this:", problems))


def wrapper_problem(node: ContainerdNode, arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return that the nssm.exe is missing which is to start containerd, and what to do; None where it is not."""
    if node.nssm_there or not _wrapped(node, arguments) or node.wrapped:
        return None
    return f"there is no {arguments['nssm']}", (
        f"run the role artifacts first, with nssm among its artifacts, set {in_role('nssm', 'containerd_nssm')} to "
        f"where it is, or {in_role('wrapper', 'containerd_wrapper')} to none"
    )


def planned_service(node: ContainerdNode, arguments: Mapping[str, Any]) -> ServicePlan:
    """Return what is to be done to the service. Raises TaskError where its name is taken by another one."""
    wrapped = _wrapped(node, arguments)
    name, option = node.service.name, in_role("service", "containerd_service")
    refuse_other_program(node.system, name, node.observed, (CONTAINERD, nssm.PROGRAM), option=option)
    if node.wrapped:
        _refuse_other_application(node)
    line = _line(node, arguments)
    parameters = _parameters(node, line, arguments) if wrapped else {}
    fresh = (
        {} if node.service.exists else {key: value for key, value in _FRESH.items() if arguments[key] in (None, AUTO)}
    )
    definition = _definition({**arguments, **fresh}).running(quote(arguments["nssm"]) if wrapped else line)
    if wrapped and node.wrapped:
        definition = definition.running(node.service.binary_path)
    changed = {key: value for key, value in parameters.items() if node.parameters.get(key) != value}
    gone = () if wrapped else tuple(node.parameters)
    defined, registry = (
        definition_steps(node.observed, definition, again=node.pending),
        list(_parameter_steps(node, changed, gone)),
    )
    folder = ntpath.dirname(arguments["log_file"] or LOG_FILE)
    make = not node.logs and bool(arguments["log_file"] or not node.service.exists)
    return ServicePlan(
        steps=(
            *([Step(f"make folder {folder}", ensure_folder(folder))] if make else ()),
            # containerd's flags are at every moment where the next run finds them, should this one be cut short.
            *([*registry, *defined] if wrapped and node.service.exists else [*defined, *registry]),
        ),
        diff=(*definition_diff(node.observed, definition), *_parameter_diff(node, changed, gone)),
        restart=bool(changed) or bool(_RESTARTING & differences(node.observed, definition).keys()),
    )


def _problems(arguments: Mapping[str, Any]) -> Iterator[str]:
    if ntpath.basename(arguments["program"]).lower() != CONTAINERD:
        yield f"program: expected the full path of {CONTAINERD}, got '{arguments['program']}'"
    if arguments["log_max_size"] is not None:
        if arguments["wrapper"] == NONE:
            yield "log_max_size: containerd itself does not rotate its log file; wrapper: nssm does"
        try:
            nssm.logging(None, arguments["log_max_size"])
        except QuantityError as error:
            yield f"log_max_size: {error}"


def _wrapped(node: ContainerdNode, arguments: Mapping[str, Any]) -> bool:
    """Return whether nssm is to start containerd."""
    return node.wrapped if arguments["wrapper"] == AUTO else arguments["wrapper"] == NSSM


def _definition(arguments: Mapping[str, Any]) -> ServiceDefinition:
    start_type = None if arguments["start_type"] == AUTO else arguments["start_type"]
    return ServiceDefinition.of(arguments["service"], {**arguments, "start_type": start_type})


def log_of(node: ContainerdNode, arguments: Mapping[str, Any]) -> str | None:
    """Return the file that containerd's service logs to, None where nobody knows of one."""
    there = flag_value(node.line or "", _LOG_FLAGS) or node.parameters.get("AppStderr")
    fresh = LOG_FILE if managed(arguments) and not node.service.exists else None
    return arguments["log_file"] or (str(there) if there else fresh)


def _line(node: ContainerdNode, arguments: Mapping[str, Any]) -> str:
    """Return containerd's own command line: the one that is there with what differs, or a new one."""
    wrapped, log = _wrapped(node, arguments), arguments["log_file"]
    line = node.line
    if line is None or (node.wrapped and not wrapped):
        log = log or LOG_FILE
    if line is None:
        line = join([arguments["program"], *([] if wrapped else ["--run-service"]), "--config", arguments["path"]])
        if node.service.name != _SERVICE_NAME and not wrapped:
            line = with_flag(line, ("--service-name",), node.service.name)
    elif not same_path(program_of_line(line), arguments["program"]):
        line = quote(arguments["program"]) + line[_program_end(line) :]
    if not wrapped and not any(argument.value in _RUN_FLAGS for argument in split(line)):
        line = f"{line} --run-service"
    if not wrapped and log:
        line = with_flag(line, _LOG_FLAGS, log)
    if arguments["log_level"] != KEEP:
        line = with_flag(line, _LEVEL_FLAGS, arguments["log_level"], only_replace=True)
    return line


def _program_end(line: str) -> int:
    """Return where the program of a command line ends, which may be unquoted and have spaces."""
    program = program_of_line(line)
    at = line.find(program)
    return at + len(program) + (1 if line[at + len(program) :].startswith('"') else 0)


def _parameters(node: ContainerdNode, line: str, arguments: Mapping[str, Any]) -> dict[str, nssm.Value]:
    """Return the parameters of nssm, which starts containerd as a program that is no service itself."""
    kept = [argument.value for argument in split(line) if argument.value not in _RUN_FLAGS]
    file, size = arguments["log_file"], arguments["log_max_size"]
    if not node.wrapped:
        file, size = file or LOG_FILE, size or _LOG_SIZE
    return {
        "Application": kept[0],
        "AppParameters": join(kept[1:]),
        **nssm.fresh(kept[0]),
        **nssm.logging(file, size),
    }


def _refuse_other_application(node: ContainerdNode) -> None:
    program = str(node.parameters.get("Application") or "")
    if program and ntpath.basename(program).lower() != CONTAINERD:
        raise node.fail(
            f"the name {node.service.name} is taken by a service with which {nssm.PROGRAM} starts {program}, so it was "
            "left alone",
            f"set {in_role('service', 'containerd_service')} to another name, or remove that service "
            f"(sc.exe delete {node.service.name}) and run again",
        )


def _parameter_steps(node: ContainerdNode, changed: Mapping[str, nssm.Value], gone: Collection[str]) -> Iterator[Step]:
    key = nssm.key(node.service.name)
    for name, value in changed.items():
        write = write_registry(key, name, nssm.KINDS[name], value, replaces=node.parameters.get(name))
        yield Step(f"set {name} of nssm for service {node.service.name}", write)
    for name in gone:
        remove = remove_registry(key, name, replaces=node.parameters[name])
        yield Step(f"remove {name} of nssm for service {node.service.name}", remove)


def _parameter_diff(
    node: ContainerdNode, changed: Mapping[str, nssm.Value], gone: Collection[str]
) -> list[dict[str, str]]:
    if not changed and not gone:
        return []
    wanted = {name: value for name, value in {**node.parameters, **changed}.items() if name not in gone}
    before, after = (
        "".join(f"{name} = {value}\n" for name, value in parameters.items()) for parameters in (node.parameters, wanted)
    )
    return [file_diff(f"nssm's parameters of service {node.service.name}", before, after)]
