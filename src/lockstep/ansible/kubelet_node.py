"""kubelet on a node, as one read shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import Service, System, read, release_of, same_path
from lockstep.kubelet.command_line import parse_command_line
from lockstep.kubelet.problem import CommandLineError
from lockstep.node.operations import (
    Program,
    content_of,
    read_file,
    read_service,
    read_system,
    read_transaction,
    run_program,
)
from lockstep.node.session import Session

TRANSACTION = "kubelet"


@dataclass(frozen=True, slots=True)
class KubeletNode:
    """A node, its kubelet and what it is configured with."""

    system: System
    path: str
    content: bytes | None
    service: Service
    version: str | None
    pending: bool

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
                "set service to the name that kubelet's service has there (sc.exe query lists all), "
                "or join the node to its cluster first",
            )
        loaded = self.flags(version).get("config")
        if loaded is None:
            raise self.fail(
                f"service {name} loads no configuration file: its command line has no --config",
                f"register it with --config={self.path}",
            )
        if not same_path(loaded, self.path):
            raise self.fail(
                f"service {name} does not load {self.path}, but {loaded}", f"set path to {loaded}, or register it again"
            )
        if self.version is None:
            raise self.fail(
                f"there is no kubelet.exe beside the program of service {name}, or it does not tell its version",
                "see what the service runs",
            )
        if self.version != version:
            raise self.fail(
                f"this node has kubelet {self.version}, but Kubernetes {version} is described",
                f"upgrade the node, or describe the pool with Kubernetes {self.version}",
            )

    def flags(self, version: str) -> dict[str, str]:
        """Return the flags on the service's command line. Raises TaskError where it is not kubelet's."""
        try:
            return parse_command_line(self.service.binary_path, version).values()
        except CommandLineError as error:
            raise self.fail(f"service {self.service.name}: {error.message}", error.fix) from error

    def node_name(self, version: str) -> str:
        """Return the name of the Node object. Source: kubernetes/kubernetes pkg/util/node, GetHostname."""
        return self.flags(version).get("hostname-override") or self.system.name.lower()

    @property
    def registered(self) -> bool:
        """Whether kubelet has registered its node, as far as the node itself shows: it does so when it starts."""
        return self.service.running


def program_of(service: str) -> Program:
    """Return kubelet.exe: the service's own program, or the one beside the kube-log-runner.exe that starts it."""
    return Program(service=service, sibling="kubelet.exe")


def read_node(session: Session, arguments: Mapping[str, Any]) -> KubeletNode:
    """Return what one read of the node shows. Raises TaskError where it cannot be read."""
    name = arguments["service"]
    system, file, service, version, transaction = read(
        session,
        [
            read_system(),
            read_file(arguments["path"]),
            read_service(name),
            run_program(program_of(name), ["--version"], timeout_seconds=arguments["timeout"]),
            read_transaction(TRANSACTION),
        ],
    )
    return KubeletNode(
        system=System.of(system),
        path=arguments["path"],
        content=content_of(file),
        service=Service.of(name, service),
        version=release_of(version),
        pending=transaction["pending"],
    )
