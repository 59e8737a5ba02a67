"""containerd on a node, as one read shows it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.ansible.command_line import flag_value
from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import Service, System, read, release_of, same_path
from lockstep.node.operations import (
    Operation,
    Program,
    content_of,
    read_file,
    read_service,
    read_system,
    read_transaction,
    run_program,
)
from lockstep.node.session import Session

TRANSACTION = "containerd"
DEFAULT_FILE = r"C:\Program Files\containerd\config.toml"
"""What containerd loads without --config. Source: containerd defaults/defaults_windows.go."""
_DEFAULT_ADDRESS = r"\\.\pipe\containerd-containerd"
_CONFIG_FLAGS = ("--config", "-config", "--c", "-c")
"""Source: containerd cmd/containerd/command/main.go; golang/go package flag, to which one dash is as good as two."""
_SERVER_PLUGIN = "io.containerd.server.v1.grpc"


@dataclass(frozen=True, slots=True)
class ContainerdNode:
    """A node, its containerd and what it is configured with. `crictl` is None where that program is not there."""

    system: System
    path: str
    content: bytes | None
    service: Service
    version: str | None
    pending: bool
    crictl: Program | None

    @property
    def program(self) -> Program:
        """containerd.exe itself."""
        return Program(service=self.service.name)

    def fail(self, message: str, do: str) -> TaskError:
        """Return the error that this node cannot be configured."""
        return TaskError(message, {"node": str(self.system), "do": do})

    def require(self, version: str, host: str | None) -> None:
        """Raise TaskError unless this is Windows of this build, and the service is there with this release and file."""
        self.system.require(host)
        name = self.service.name
        if not self.service.exists:
            raise self.fail(
                f"this node has no service {name}",
                "set service to the name that containerd's service has there (sc.exe query lists all), "
                "or install containerd, then run containerd.exe --register-service",
            )
        loaded = flag_value(self.service.binary_path, _CONFIG_FLAGS) or DEFAULT_FILE
        if not same_path(loaded, self.path):
            raise self.fail(
                f"service {name} does not load {self.path}, but {loaded}", f"set path to {loaded}, or register it again"
            )
        if self.version is None:
            raise self.fail(
                f"the program of service {name} does not tell its version", "see whether it is containerd.exe"
            )
        if self.version != version:
            raise self.fail(
                f"this node has containerd {self.version}, but {version} is described",
                f"upgrade the node, or describe the pool with containerd {self.version}",
            )


def read_node(session: Session, arguments: Mapping[str, Any]) -> ContainerdNode:
    """Return what one read of the node shows. Raises TaskError where it cannot be read."""
    name, timeout = arguments["service"], arguments["timeout"]
    crictl = crictl_of(arguments)
    operations: list[Operation] = [
        read_system(),
        read_file(arguments["path"]),
        read_service(name),
        run_program(Program(service=name), ["--version"], timeout_seconds=timeout),
        read_transaction(TRANSACTION),
        run_program(crictl, ["--version"], timeout_seconds=timeout),
    ]
    system, file, service, version, transaction, crictl_version = read(session, operations)
    return ContainerdNode(
        system=System.of(system),
        path=arguments["path"],
        content=content_of(file),
        service=Service.of(name, service),
        version=release_of(version),
        pending=transaction["pending"],
        crictl=crictl if crictl_version["found"] else None,
    )


def crictl_of(arguments: Mapping[str, Any]) -> Program:
    """Return the crictl that a task names, or the one beside containerd.exe."""
    if arguments["crictl"]:
        return Program(path=arguments["crictl"])
    return Program(service=arguments["service"], sibling="crictl.exe")


def dump_arguments(path: str) -> list[str]:
    """Return the arguments with which containerd prints what it makes of this file; no file is all defaults."""
    return [*([] if same_path(path, DEFAULT_FILE) else ["--config", path]), "config", "dump"]


def info_arguments(content: bytes | None) -> list[str]:
    """Return the arguments with which crictl asks the containerd of this configuration for its handlers."""
    return ["--runtime-endpoint", "npipe://" + address(content).replace("\\", "/"), "info"]


def version_arguments(content: bytes | None) -> list[str]:
    """Return the arguments with which ctr asks the containerd of this configuration for its version."""
    pipe = address(content)
    return [*([] if pipe == _DEFAULT_ADDRESS else ["--address", pipe]), "version"]


def address(content: bytes | None) -> str:
    """Return the pipe that a containerd of this configuration, valid TOML or None, listens on."""
    data = tomllib.loads((content or b"").decode("utf-8-sig"))
    plugin = data.get("plugins", {}).get(_SERVER_PLUGIN, {})
    for section in (plugin, data.get("grpc", {})):
        if isinstance(section, dict) and isinstance(section.get("address"), str) and section["address"]:
            return str(section["address"])
    return _DEFAULT_ADDRESS
