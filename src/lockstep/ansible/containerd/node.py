"""containerd on a node, as one read shows it."""

from __future__ import annotations

import ntpath
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lockstep.ansible.command_line import flag_value
from lockstep.ansible.containerd.registries import ObservedRegistries, registry_operations
from lockstep.ansible.errors import TaskError, in_role
from lockstep.ansible.node import Service, System, ask_release, read, release_of, same_path
from lockstep.ansible.service_definition import program_name, program_of_line
from lockstep.kubelet import nssm
from lockstep.node.operations import (
    Operation,
    Program,
    Result,
    check_program,
    content_of,
    digest_file,
    read_file,
    read_folder,
    read_registry,
    read_service,
    read_system,
    read_transaction,
    run_program,
)
from lockstep.node.session import Session

TRANSACTION = "containerd"
DEFAULT_FILE = r"C:\Program Files\containerd\config.toml"
"""What containerd loads without --config. Source: containerd defaults/defaults_windows.go."""
CONTAINERD = "containerd.exe"
KEEP = "keep"
"""A level that is left as it is."""
LOG_FILE = r"C:\var\log\containerd\containerd.log"
"""Where a service that is new logs."""
DEFAULT_ADDRESS = r"\\.\pipe\containerd-containerd"
CONFIG_FLAGS = ("--config", "-config", "--c", "-c")
"""Source: containerd cmd/containerd/command/main.go; golang/go package flag, to which one dash is as good as two."""
ADDRESS_FLAGS = ("--address", "-address", "--a", "-a")
_SERVER_PLUGIN = "io.containerd.server.v1.grpc"


@dataclass(frozen=True, slots=True)
class ContainerdNode:
    """A node, its containerd and what it is configured with.

    `observed` is the result of service.read, `parameters` are nssm's. `program` is containerd.exe, `crictl` None where
    that program is not there. `dump` is what `containerd config dump` said of the file that is there. `logs` says
    whether the log file's folder is there, `nssm_there` whether the nssm.exe is that a task names, both False where
    that was not asked.
    """

    system: System
    path: str
    content: bytes | None
    service: Service
    observed: Result
    program: Program
    version: str | None
    pending: bool
    crictl: Program | None
    dump: Result
    parameters: Mapping[str, nssm.Value] = field(default_factory=dict)
    logs: bool = False
    nssm_there: bool = False
    registries: ObservedRegistries | None = None

    def fail(self, message: str, do: str) -> TaskError:
        """Return the error that this node cannot be configured."""
        return TaskError(message, {"node": str(self.system), "do": do})

    @property
    def wrapped(self) -> bool:
        """Whether nssm starts containerd."""
        return program_name(self.service.binary_path) == nssm.PROGRAM

    @property
    def line(self) -> str | None:
        """The command line of containerd itself, whatever starts it; None where there is no service."""
        if not self.service.exists:
            return None
        if not self.wrapped:
            return self.service.binary_path
        return nssm.whole_line(self.parameters)

    @property
    def address_flag(self) -> str | None:
        """The pipe that the service's command line names, which counts before the file's."""
        return flag_value(self.line or "", ADDRESS_FLAGS)

    def require_service(self) -> None:
        """Raise TaskError unless the service is there, and its program can be told."""
        name = self.service.name
        if not self.service.exists:
            raise self.fail(
                f"this node has no service {name}",
                f"set {in_role('service', 'containerd_service')} to the name that containerd's service has there "
                "(sc.exe query lists all), let the task register it with "
                f"{in_role('manage_service: true', 'containerd_manage_service')}, or run containerd.exe "
                "--register-service",
            )
        program = program_of_line(self.service.binary_path)
        if not ntpath.dirname(program):
            raise self.fail(
                f"service {name} runs {program or 'nothing'}, which names no folder, so that it is not known which "
                "program that is",
                f"register it with the full path (sc.exe config {name} binPath= …)",
            )

    def require_file(self) -> None:
        """Raise TaskError unless the service, where there is one, loads the file that is configured."""
        if self.line is None:
            return
        name, loaded = self.service.name, flag_value(self.line, CONFIG_FLAGS) or DEFAULT_FILE
        if not same_path(loaded, self.path):
            raise self.fail(
                f"service {name} does not load {self.path}, but {loaded}",
                f"set {in_role('path', 'containerd_path')} to {loaded}, or register it again",
            )

    def version_problem(self, version: str) -> tuple[str, str] | None:
        """Return why this node's containerd is not the described one, and what to do; None where it is."""
        if self.version is None:
            return f"the program of service {self.service.name} does not tell its version", (
                "see whether it is containerd.exe"
            )
        if self.version != version:
            return f"this node has containerd {self.version}, but {version} is described", (
                f"upgrade the node, or describe the pool with containerd {self.version}"
            )
        return None


def read_operations(arguments: Mapping[str, Any]) -> list[Operation]:
    """Return what a containerd_config task asks of a node, always the same for the same arguments."""
    return list(_named(arguments).values())


def read_node(session: Session, arguments: Mapping[str, Any]) -> ContainerdNode:
    """Return what one read of the node shows. Raises TaskError where it cannot be read."""
    operations = _named(arguments)
    found = dict(zip(operations, read(session, list(operations.values())), strict=True))
    name = arguments["service"]
    parameters = {key: found[f"nssm {key}"] for key in nssm.KINDS if f"nssm {key}" in found}
    return ContainerdNode(
        system=System.of(found["system"]),
        path=arguments["path"],
        content=content_of(found["file"]),
        service=Service.of(name, found["service"]),
        observed=found["service"],
        program=program_of(arguments),
        version=release_of(found["version"]),
        pending=found["transaction"]["pending"],
        # Where not even containerd is there yet, crictl will come with it.
        crictl=crictl_of(arguments) if found["crictl"]["found"] or not found["version"]["found"] else None,
        dump=found["dump"],
        parameters={key: result["value"] for key, result in parameters.items() if result["exists"]},
        logs="logs" in found and found["logs"]["exists"],
        nssm_there="wrapper" in found and found["wrapper"]["exists"],
        registries=ObservedRegistries.of(found) if arguments.get("registries") is not None else None,
    )


def _named(arguments: Mapping[str, Any]) -> dict[str, Operation]:
    seconds, program = arguments["timeout"], program_of(arguments)
    named = {
        "system": read_system(),
        "file": read_file(arguments["path"]),
        "service": read_service(arguments["service"]),
        "version": ask_release(program, seconds),
        "transaction": read_transaction(TRANSACTION),
        "crictl": ask_release(crictl_of(arguments), seconds),
        "dump": run_program(program, dump_arguments(arguments["path"]), timeout_seconds=seconds),
    }
    if managed(arguments):
        key = nssm.key(arguments["service"])
        named |= {f"nssm {name}": read_registry(key, name) for name in nssm.KINDS}
        named["wrapper"] = digest_file(arguments["nssm"])
        named["logs"] = read_folder(ntpath.dirname(arguments["log_file"] or LOG_FILE))
    if arguments.get("registries") is not None:
        named |= registry_operations(arguments)
    return named


def managed(arguments: Mapping[str, Any]) -> bool:
    """Return whether the task registers the service, or makes the one that is there as it is to be."""
    return bool(arguments.get("manage_service"))


def program_of(arguments: Mapping[str, Any]) -> Program:
    """Return containerd.exe: the one that the task registers, or the service's."""
    return Program(path=arguments["program"]) if managed(arguments) else Program(service=arguments["service"])


def crictl_of(arguments: Mapping[str, Any]) -> Program:
    """Return the crictl that a task names, or the one beside containerd.exe."""
    if arguments["crictl"]:
        return Program(path=arguments["crictl"])
    return beside(arguments, "crictl.exe")


def beside(arguments: Mapping[str, Any], name: str) -> Program:
    """Return the program of this name in containerd.exe's folder."""
    if managed(arguments):
        return Program(path=ntpath.join(ntpath.dirname(arguments["program"]), name))
    return Program(service=arguments["service"], sibling=name)


def dump_arguments(path: str) -> list[str]:
    """Return the arguments with which containerd prints what it makes of this file; no file is all defaults."""
    return [*([] if same_path(path, DEFAULT_FILE) else ["--config", path]), "config", "dump"]


def info_arguments(pipe: str | None = None) -> list[str]:
    """Return the arguments with which crictl asks the containerd at this pipe, its own by default, for its handlers."""
    return ["--runtime-endpoint", "npipe://" + (pipe or DEFAULT_ADDRESS).replace("\\", "/"), "info"]


def check_answer(ctr: Program, pipe: str, timeout_seconds: int) -> Operation:
    """Return the operation in which the containerd at this pipe has to answer ctr."""
    asked = [*([] if pipe == DEFAULT_ADDRESS else ["--address", pipe]), "version"]
    return check_program(ctr, asked, must_contain=["Server:"], timeout_seconds=timeout_seconds)


def address(content: bytes | None, flag: str | None = None) -> str:
    """Return the pipe that containerd listens on: the service's flag, else what the file, valid TOML or None, says."""
    if flag:
        return flag
    data = tomllib.loads((content or b"").decode("utf-8-sig"))
    plugin = data.get("plugins", {}).get(_SERVER_PLUGIN, {})
    for section in (plugin, data.get("grpc", {})):
        if isinstance(section, dict) and isinstance(section.get("address"), str) and section["address"]:
            return str(section["address"])
    return DEFAULT_ADDRESS
