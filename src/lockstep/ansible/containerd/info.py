"""What a containerd_config_info task does: one read, told as data."""

from __future__ import annotations

import ntpath
from collections.abc import Iterator, Mapping
from typing import Any

from lockstep.ansible.command_line import flag_value
from lockstep.ansible.containerd.answers import configured, dump_error, loaded_handlers
from lockstep.ansible.containerd.node import (
    ADDRESS_FLAGS,
    CONFIG_FLAGS,
    DEFAULT_ADDRESS,
    DEFAULT_FILE,
    TRANSACTION,
    address,
    crictl_of,
    dump_arguments,
    info_arguments,
)
from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import Service, System, ask_release, read, release_of, same_path
from lockstep.ansible.service_definition import program_name, program_of_line
from lockstep.ansible.text import shown_toml
from lockstep.containerd import ContainerdConfigError, inspect
from lockstep.kubelet import nssm
from lockstep.node.operations import (
    Operation,
    Program,
    Result,
    content_of,
    read_file,
    read_registry,
    read_service,
    read_system,
    read_transaction,
    run_program,
)
from lockstep.node.session import Session


def read_configuration(session: Session, arguments: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:  # noqa: ARG001 - reads in check mode as it does otherwise
    """Return the task's result. Raises TaskError where the node cannot be read."""
    path, name, timeout = arguments["path"], arguments["service"], arguments["timeout"]
    found = read(session, read_operations(arguments))
    system, file, service, version, transaction, dump, info, application, parameters = found
    content = content_of(file)
    registered = Service.of(name, service)
    line = registered.binary_path
    if program_name(line) == nssm.PROGRAM and application["exists"]:
        line = nssm.whole_line({"Application": application["value"], "AppParameters": parameters.get("value")})
    pipe = _pipe(content, line)
    if line != registered.binary_path and not arguments["program"]:
        own = Program(str(application["value"]))
        crictl = Program(arguments["crictl"] or ntpath.join(ntpath.dirname(str(own.path)), "crictl.exe"))
        version, dump, info = read(session, _asked(own, crictl, path, pipe, timeout))
    elif pipe != DEFAULT_ADDRESS:
        [info] = read(session, [run_program(crictl_of(arguments), info_arguments(pipe), timeout_seconds=timeout)])
    result = {
        "changed": False,
        "path": path,
        "exists": content is not None,
        "service": registered.data(),
        "pending": transaction["pending"],
        "node": System.of(system).data(),
        "warnings": list(_warnings(registered, line, path)),
    }
    if release := release_of(version):
        result["version"] = release
    return {**result, **_configured(content), **_effective(dump), **_loaded(info)}


def read_operations(arguments: Mapping[str, Any]) -> list[Operation]:
    """Return what a containerd_config_info task asks of a node first, always the same for the same arguments."""
    path, key = arguments["path"], nssm.key(arguments["service"])
    version, dump, info = _asked(program_of(arguments), crictl_of(arguments), path, None, arguments["timeout"])
    return [
        read_system(),
        read_file(path),
        read_service(arguments["service"]),
        version,
        read_transaction(TRANSACTION),
        dump,
        info,
        read_registry(key, nssm.APPLICATION),
        read_registry(key, "AppParameters"),
    ]


def _asked(containerd: Program, crictl: Program, path: str, pipe: str | None, timeout: int) -> list[Operation]:
    return [
        ask_release(containerd, timeout),
        run_program(containerd, dump_arguments(path), timeout_seconds=timeout),
        run_program(crictl, info_arguments(pipe), timeout_seconds=timeout),
    ]


def program_of(arguments: Mapping[str, Any]) -> Program:
    """Return the containerd.exe that a task names, or the service's program."""
    return Program(path=arguments["program"]) if arguments["program"] else Program(service=arguments["service"])


def _pipe(content: bytes | None, line: str) -> str:
    """Return the pipe that containerd listens on, its own by default where the file cannot be read."""
    flag = flag_value(line, ADDRESS_FLAGS)
    try:
        return address(content, flag)
    except ValueError:
        return DEFAULT_ADDRESS


def _warnings(service: Service, line: str, path: str) -> Iterator[str]:
    """Yield what makes the answers less than they look."""
    if not service.exists:
        return
    if program_name(line) == nssm.PROGRAM:
        return
    program = program_of_line(line)
    if not ntpath.dirname(program):
        yield (
            f"service {service.name} runs {program or 'nothing'}, which names no folder, so that it is not known which "
            "program that is and nothing was asked of it: register it with the full path"
        )
    loaded = flag_value(line, CONFIG_FLAGS) or DEFAULT_FILE
    if not same_path(loaded, path):
        yield f"service {service.name} does not load {path}, but {loaded}: set path to that to see it"


def _configured(content: bytes | None) -> dict[str, Any]:
    if content is None:
        return {}
    try:
        return {"config_version": inspect(content).config_version, "configured": configured(content)}
    except ContainerdConfigError as error:
        return {"config_error": str(error)}


def _effective(dump: Result) -> dict[str, Any]:
    if not dump["found"]:
        return {}
    if said := dump_error(dump):
        return {"config_error": said}
    text = dump["stdout"]
    try:
        return {"config_dump": shown_toml(text.encode()), "effective": configured(text.encode())}
    except ContainerdConfigError as error:
        raise TaskError("what `containerd config dump` prints cannot be read", {"it says": str(error)}) from error


def _loaded(info: Result) -> dict[str, Any]:
    """Return the handlers of the running containerd; nothing where it, or crictl, is not there."""
    handlers = loaded_handlers(info)
    return {} if handlers is None else {"loaded_handlers": handlers}
