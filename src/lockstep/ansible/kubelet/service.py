"""kubelet's service as it is to be: its definition, and nssm's parameters where nssm starts kubelet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lockstep.ansible.kubelet.node import AUTO, NSSM, RUNNER, KubeletNode
from lockstep.ansible.kubelet.paths import LOG_FILE, Paths
from lockstep.ansible.node import Step, file_diff
from lockstep.ansible.service_definition import Recovery, ServiceDefinition, definition_diff, definition_steps
from lockstep.ansible.text import shown_command_line
from lockstep.catalog.kubernetes import minor
from lockstep.kubelet import log_runner, nssm
from lockstep.kubelet.arguments import quote
from lockstep.node.operations import remove_registry, write_registry

_DISPLAY_NAME = "Kubelet"
_DESCRIPTION = "Kubernetes node agent"
LOG_SIZE, LOG_AGE = "100Mi", "168h"
"""When a wrapper that is new begins another log file, and how long it keeps one."""
# As Kubernetes' own scripts have it, but counted anew after a day.
# Source: kubernetes/kubernetes cluster/gce/windows/k8s-node-setup.psm1 (sc.exe failure).
_RECOVERY = Recovery(actions=(("restart", 10_000),) * 3, reset_seconds=86_400, on_non_crash=True)


@dataclass(frozen=True, slots=True)
class PlannedService:
    """What the service is to be; `parameters` are nssm's, empty where another wrapper or none starts kubelet."""

    definition: ServiceDefinition
    parameters: Mapping[str, nssm.Value] = field(default_factory=dict)

    def steps(self, node: KubeletNode, *, again: bool) -> list[Step]:
        """Return what has to be done; with `again` everything is stated anew.

        kubelet's flags are at every moment where the next run finds them, should this one be cut short: they are in the
        registry before the service is nssm's, and in the service again before they go from there.
        """
        definition, registry = definition_steps(node.observed, self.definition, again=again), list(self._registry(node))
        return [*registry, *definition] if self.parameters and node.service.exists else [*definition, *registry]

    def diff(self, node: KubeletNode) -> list[dict[str, str]]:
        """Return the entries of the task's diff."""
        found = definition_diff(node.observed, self.definition, shown_command_line)
        if dict(node.parameters) != dict(self.parameters):
            texts = (_text(each) for each in (node.parameters, self.parameters))
            found.append(file_diff(f"nssm's parameters of service {self.definition.name}", *texts))
        return found

    def _registry(self, node: KubeletNode) -> Iterator[Step]:
        key = nssm.key(self.definition.name)
        # Application last: without it, nssm's parameters are not complete.
        for name in reversed(list(nssm.KINDS)):
            former, value = node.parameters.get(name), self.parameters.get(name)
            if former == value:
                continue
            if value is None and former is not None:
                yield Step(f"remove nssm's {name}", remove_registry(key, name, replaces=former))
            elif value is not None:
                yield Step(f"set nssm's {name}", write_registry(key, name, nssm.KINDS[name], value, replaces=former))


def wrapper_of(node: KubeletNode, arguments: Mapping[str, Any]) -> str:
    """Return what is to start kubelet: what the task says, else what does so now, else kube-log-runner."""
    if arguments["wrapper"] != AUTO:
        return str(arguments["wrapper"])
    return node.wrapper if node.service.exists else RUNNER


def planned_service(node: KubeletNode, arguments: Mapping[str, Any], line: str, wrapper: str) -> PlannedService:
    """Return the service that starts kubelet with this line; one that is there keeps what it has otherwise."""
    definition, paths = _definition(node, arguments), Paths.of(arguments)
    if wrapper == NSSM:
        there = node.wrapper == NSSM and bool(node.parameters.get(nssm.APPLICATION))
        given = nssm.logging(paths.log_file, arguments["log_max_size"])
        begin = {**nssm.fresh(paths.program), **nssm.logging(LOG_FILE, LOG_SIZE)}
        parameters = {**(node.parameters if there else begin), **given}
        binary = node.service.binary_path if node.wrapper == NSSM else quote(paths.nssm)
        return PlannedService(definition.running(binary), nssm.with_line(parameters, line))
    return PlannedService(definition.running(_native(node, arguments, line, wrapper)))


def same_service(node: KubeletNode, line: str) -> PlannedService:
    """Return the service as it is, but for kubelet's line."""
    definition = ServiceDefinition(node.service.name)
    if node.wrapper == NSSM:
        return PlannedService(definition, nssm.with_line(node.parameters, line))
    native = log_runner.take_apart(node.service.binary_path)
    return PlannedService(definition.running(log_runner.Native(native.runner, native.arguments, line).text()))


def log_file(service: PlannedService) -> str | None:
    """Return the file that the wrapper writes kubelet's log to, None where there is none."""
    if service.parameters:
        found: str | int | None = service.parameters.get("AppStderr")
    else:
        line = service.definition.binary_path
        found = log_runner.values_of(log_runner.take_apart(line).arguments).get(log_runner.LOG_FILE) if line else None
    return str(found) if found else None


def _native(node: KubeletNode, arguments: Mapping[str, Any], line: str, wrapper: str) -> str:
    if wrapper != RUNNER:
        return line
    paths, size, age = Paths.of(arguments), arguments["log_max_size"], arguments["log_max_age"]
    if node.wrapper == RUNNER:
        native = log_runner.take_apart(node.service.binary_path)
        wanted = _log_flags(paths.log_file, size, age)
        if not wanted:
            # As it is written, up to kubelet.
            return node.service.binary_path[: -len(native.line)] + line
        own = log_runner.with_flags(native.arguments, wanted)
        return log_runner.Native(native.runner, own, line).text()
    rotates = log_runner.knows(log_runner.LOG_FILE_SIZE, minor(arguments["version"]))
    sizes = (size or LOG_SIZE, age or LOG_AGE) if rotates else (None, None)
    flags = _log_flags(paths.log_file or LOG_FILE, *sizes)
    return log_runner.Native(paths.runner, log_runner.with_flags((), flags), line).text()


def _log_flags(file: str | None, size: str | None, age: str | None) -> dict[str, str]:
    flags = {log_runner.LOG_FILE: file, log_runner.LOG_FILE_SIZE: size, log_runner.LOG_FILE_AGE: age}
    return {name: value for name, value in flags.items() if value is not None}


def _definition(node: KubeletNode, arguments: Mapping[str, Any]) -> ServiceDefinition:
    name, needs, there = node.service.name, tuple(arguments["depends_on"]), node.observed
    start = None if arguments["start_type"] == AUTO else arguments["start_type"]
    if not there["exists"]:
        return ServiceDefinition(
            name,
            display_name=_DISPLAY_NAME,
            description=_DESCRIPTION,
            start_type=start or "automatic",
            depends_on=needs,
            recovery=_RECOVERY,
        )
    known = [str(each).lower() for each in there.get("depends_on", ())]
    lacking = [each for each in needs if each.lower() not in known]
    return ServiceDefinition(
        name,
        start_type=start,
        depends_on=(*there.get("depends_on", ()), *lacking) if lacking else None,
        recovery=None if there.get("recovery") else _RECOVERY,
    )


def _text(parameters: Mapping[str, nssm.Value]) -> str:
    """Return nssm's parameters for people to see; flags with a secret are masked as on any command line."""
    return "".join(f"{name:<17}{_shown(name, parameters[name])}\n" for name in nssm.KINDS if name in parameters)


def _shown(name: str, value: nssm.Value) -> str:
    if name != "AppParameters":
        return str(value)
    return shown_command_line(f"x {value}").removeprefix("x ")
