"""kubelet on a node, as one read shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lockstep.ansible.errors import TaskError
from lockstep.ansible.kubelet.paths import HEALTH_PROGRAM, Paths
from lockstep.ansible.node import Service, System, ask_release, read, release_of, same_path
from lockstep.ansible.service_definition import program_name
from lockstep.kubelet import log_runner, nssm
from lockstep.kubelet.arguments import split
from lockstep.kubelet.joining import BOOTSTRAP_KUBECONFIG, KUBECONFIG
from lockstep.kubelet.problem import CommandLineError
from lockstep.kubelet.service_line import parse_command_line
from lockstep.node.operations import (
    Operation,
    Program,
    Result,
    content_of,
    digest_file,
    read_file,
    read_folder,
    read_machine,
    read_registry,
    read_service,
    read_system,
    read_transaction,
)
from lockstep.node.session import Session

TRANSACTION = "kubelet"
AUTO, RUNNER, NONE, NSSM = "auto", "kube-log-runner", "none", "nssm"
"""What starts kubelet, as the argument `wrapper` says it."""


@dataclass(frozen=True, slots=True)
class KubeletNode:
    """A node, its kubelet and what it is configured with.

    `observed` is the result of service.read. `releases` are those of the kubelet.exe that were asked, by path, the one
    for a service that is new last; None for one that tells none. `parameters` are nssm's. `files` are the contents of
    further files and `digests` the SHA-256 of those that were not read as such, None for one that is not there, by
    path; `folders` are the results of folder.read, and `needs` says which of the services that kubelet's depends on
    are there.
    """

    system: System
    host_name: str
    path: str
    content: bytes | None
    service: Service
    observed: Result
    pending: bool
    releases: Mapping[str, str | None]
    parameters: Mapping[str, nssm.Value] = field(default_factory=dict)
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    digests: Mapping[str, str | None] = field(default_factory=dict)
    folders: Mapping[str, Result] = field(default_factory=dict)
    machine: Result = field(default_factory=dict)
    needs: Mapping[str, bool] = field(default_factory=dict)

    def fail(self, message: str, do: str) -> TaskError:
        """Return the error that this node cannot be configured."""
        return TaskError(message, {"node": str(self.system), "do": do})

    @property
    def wrapper(self) -> str:
        """What starts kubelet now; `none` where there is no service."""
        names = {log_runner.PROGRAM: RUNNER, nssm.PROGRAM: NSSM}
        return names.get(program_name(self.service.binary_path), NONE)

    @property
    def program(self) -> str | None:
        """kubelet.exe as the service starts it, None where that cannot be told or there is no service."""
        try:
            line = self.line()
        except TaskError:
            return None
        return split(line)[0].value if line else None

    @property
    def version(self) -> str | None:
        """The release of the service's kubelet.exe, or of the one for a new service; None where it is unknown."""
        program = self.program
        if program is None:
            return next((release for release in reversed(list(self.releases.values())) if release), None)
        return next((release for path, release in self.releases.items() if same_path(path, program)), None)

    def line(self) -> str | None:
        """Return kubelet's own command line, its program first, whatever starts it; None where there is none yet.

        Raises TaskError where the service runs something else.
        """
        begun = self.pending and self.wrapper == NSSM and not self.parameters.get(nssm.APPLICATION)
        if begun or not self.service.exists:
            return None
        try:
            if self.wrapper == NSSM:
                return nssm.line_of(self.parameters)
            return log_runner.take_apart(self.service.binary_path).line
        except CommandLineError as error:
            raise self.fail(f"service {self.service.name}: {error.message}", error.fix) from error

    def flags(self, version: str) -> dict[str, str]:
        """Return the flags on kubelet's command line. Raises TaskError where it is not kubelet's."""
        line = self.line()
        if line is None:
            return {}
        try:
            return parse_command_line(line, version).values()
        except CommandLineError as error:
            raise self.fail(f"service {self.service.name}: {error.message}", error.fix) from error

    def node_name(self, flags: Mapping[str, str]) -> str:
        """Return the name of the Node object. Source: kubernetes/component-helpers node/util, GetHostname."""
        return (flags.get("hostname-override") or self.host_name).strip().lower()

    def registered(self, version: str) -> bool:
        """Whether kubelet has registered its node, as far as the node itself shows: it does so when it starts."""
        return self.service.running and bool({KUBECONFIG, BOOTSTRAP_KUBECONFIG} & self.flags(version).keys())

    def there(self, path: str) -> bool:
        """Return whether a file is there whose content was not read."""
        return self.digests.get(path) is not None


def program_of(service: str) -> Program:
    """Return kubelet.exe: the service's own program, or the one beside the wrapper that starts it."""
    return Program(service=service, sibling="kubelet.exe")


def read_operations(arguments: Mapping[str, Any]) -> list[Operation]:
    """Return what a kubelet_config task asks of a node, always the same for the same arguments."""
    return list(_named(arguments).values())


def read_node(session: Session, arguments: Mapping[str, Any]) -> KubeletNode:
    """Return what one read of the node shows. Raises TaskError where it cannot be read."""
    operations = _named(arguments)
    found = dict(zip(operations, read(session, list(operations.values())), strict=True))
    service = found["service"]
    return KubeletNode(
        system=System.of(found["system"]),
        host_name=found["system"].get("host_name") or found["system"]["computer_name"],
        path=arguments["path"],
        content=content_of(found["configuration"]),
        service=Service.of(arguments["service"], service),
        observed=service,
        pending=found["transaction"]["pending"],
        releases={
            result["program"]: release_of(result)
            for result in (found["version"], found.get("program", {"found": False}))
            if result["found"]
        },
        parameters={name: found[f"nssm {name}"]["value"] for name in nssm.KINDS if found[f"nssm {name}"]["exists"]},
        files={_path(name): content_of(result) for name, result in found.items() if name.startswith("file ")},
        digests={_path(name): result.get("sha256") for name, result in found.items() if name.startswith("digest ")},
        folders={_path(name): result for name, result in found.items() if name.startswith("folder ")},
        machine=found.get("machine", {}),
        needs={_path(name): result["exists"] for name, result in found.items() if name.startswith("needed ")},
    )


def _named(arguments: Mapping[str, Any]) -> dict[str, Operation]:
    service, seconds = arguments["service"], arguments["timeout"]
    named = {
        "system": read_system(),
        "configuration": read_file(arguments["path"]),
        "service": read_service(service),
        "version": ask_release(program_of(service), seconds),
        "transaction": read_transaction(TRANSACTION),
    }
    named |= {f"nssm {name}": read_registry(nssm.key(service), name) for name in nssm.KINDS}
    return named | (_more(arguments) if "program" in arguments else {})


def _more(arguments: Mapping[str, Any]) -> dict[str, Operation]:
    """Return what only a task asks that makes the service."""
    paths = Paths.of(arguments)
    providers = [str(each.get("name")) for each in arguments["credential_providers"]]
    files = [paths.kubeadm_flags, paths.instance_config, *map(paths.drop_in, arguments["drop_ins"])]
    digests = [paths.runner, paths.nssm, HEALTH_PROGRAM, paths.kubeconfig, paths.bootstrap_kubeconfig, paths.client_ca]
    folders = [paths.logs, paths.credentials]
    if providers:
        files.append(paths.providers)
        digests += map(paths.provider, providers)
    if paths.config_dir:
        folders.append(paths.config_dir)
    return {
        "program": ask_release(Program(path=paths.program), arguments["timeout"]),
        **{f"file {path}": read_file(path) for path in files},
        **{f"digest {path}": digest_file(path) for path in digests},
        **{f"folder {path}": read_folder(path) for path in folders},
        **{f"needed {name}": read_service(name) for name in arguments["depends_on"]},
        **({"machine": read_machine()} if arguments["reserved"] == AUTO else {}),
    }


def _path(name: str) -> str:
    return name.partition(" ")[2]
