"""What a node is to have after a kubelet_config task: configuration, further files, folders, command line, service."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.ansible.errors import TaskError, listed
from lockstep.ansible.kubelet.checks import logging_problems, shutdown_problem, whole_problems
from lockstep.ansible.kubelet.fields import is_joined, not_reserved, planned_fields, too_much_reserved
from lockstep.ansible.kubelet.files import NodeFile, wanted_files
from lockstep.ansible.kubelet.line import planned_line, remaining_line
from lockstep.ansible.kubelet.node import NSSM, RUNNER, KubeletNode
from lockstep.ansible.kubelet.paths import Paths
from lockstep.ansible.kubelet.service import PlannedService, planned_service, same_service, wrapper_of
from lockstep.catalog.kubernetes import minor
from lockstep.kubelet.configuration import inspect_configuration, merge_configuration, remove_configuration
from lockstep.kubelet.flag_values import with_flags
from lockstep.kubelet.problem import CommandLineError, KubeletConfigError
from lockstep.kubelet.service_line import parse
from lockstep.windows.access import ADMINISTRATORS, same


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to be made, with its access list in SDDL; None for that of the folder above."""

    path: str
    access: str | None = None


@dataclass(frozen=True, slots=True)
class Desired:
    """What is to be. `line` is kubelet's own command line, `wrapper` what starts it; `health` is a URL, None for none.

    `warnings` tell what is questionable in the whole, `told` what a change leaves out or takes away.
    """

    content: bytes | None
    line: str
    wrapper: str
    joined: bool
    service: PlannedService
    files: tuple[NodeFile, ...] = ()
    folders: tuple[Folder, ...] = ()
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    health: str | None = None


def desired(node: KubeletNode, arguments: Mapping[str, Any]) -> Desired:
    """Return what the node is to have. Raises TaskError where it cannot be configured like this."""
    try:
        return _present(node, arguments) if arguments["state"] == "present" else _absent(node, arguments)
    except (KubeletConfigError, CommandLineError) as error:
        what = node.path if isinstance(error, KubeletConfigError) else f"command line of service {node.service.name}"
        facts = {"node": str(node.system), "where": what, "it says": str(error)}
        raise TaskError("kubelet cannot be configured like this, so it was left alone", facts) from error


def _present(node: KubeletNode, arguments: Mapping[str, Any]) -> Desired:
    paths, facts = Paths.of(arguments), minor(arguments["version"])
    joined, wrapper = is_joined(node, arguments, paths), wrapper_of(node, arguments)
    fields = planned_fields(node, arguments, paths, joined=joined)
    content = merge_configuration(node.content, fields, arguments["version"])
    line = planned_line(node, arguments, paths, facts, fields, wrapper=wrapper, joined=joined)
    files = tuple(wanted_files(node, arguments, paths, facts))
    _refuse(node, [*logging_problems(arguments, facts, wrapper), *_of_machine(node, content)])
    errors, warnings = whole_problems(content, line.text, arguments["version"], native=wrapper != NSSM)
    in_effect = with_flags(inspect_configuration(content).fields, parse(line.text, facts), facts)
    wrong = shutdown_problem(in_effect, facts, wrapper, node.service.name)
    refused = wrong is not None and wrapper == NSSM
    return Desired(
        content,
        line.text,
        wrapper,
        joined,
        planned_service(node, arguments, line.text, wrapper),
        files=files,
        folders=tuple(_folders(node, paths, wrapper, files)),
        errors=(*errors, *([wrong] if wrong and refused else ())),
        warnings=(*warnings, *([wrong] if wrong and not refused else ()), *_endpoint(node, paths, in_effect)),
        told=(*line.warnings, *_exposed(node, paths, files), *filter(None, [not_reserved(node, arguments)])),
        health=_health(in_effect),
    )


def _absent(node: KubeletNode, arguments: Mapping[str, Any]) -> Desired:
    version = arguments["version"]
    content = remove_configuration(node.content, arguments["configuration"], version)
    line = remaining_line(node, arguments).text
    errors, warnings = whole_problems(content, line, version, native=node.wrapper != NSSM)
    joined = is_joined(node, arguments, Paths.of(arguments))
    service = same_service(node, line)
    return Desired(content, line, node.wrapper, joined, service, errors=tuple(errors), warnings=tuple(warnings))


def _refuse(node: KubeletNode, problems: list[str]) -> None:
    if problems:
        message = listed("kubelet cannot be configured like this, so it was left alone:", problems)
        raise TaskError(message, {"node": str(node.system)})


def _of_machine(node: KubeletNode, content: bytes) -> list[str]:
    problem = too_much_reserved(node, inspect_configuration(content).fields)
    return [] if problem is None else [problem]


def _folders(node: KubeletNode, paths: Paths, wrapper: str, files: Sequence[NodeFile]) -> Iterator[Folder]:
    """Yield the folders that have to be made: neither the log's wrapper nor kubelet makes its own."""
    logs = wrapper in (RUNNER, NSSM) and (node.wrapper != wrapper or paths.log_file is not None)
    if logs and not node.folders[paths.logs]["exists"]:
        yield Folder(paths.logs, ADMINISTRATORS)
    if paths.config_dir and not node.folders[paths.config_dir]["exists"]:
        yield Folder(paths.config_dir)
    if any(file.secret for file in files) and not node.folders[paths.credentials]["exists"]:
        yield Folder(paths.credentials, ADMINISTRATORS)


def _exposed(node: KubeletNode, paths: Paths, files: Sequence[NodeFile]) -> Iterator[str]:
    """Yield that others than administrators may read the folder that a secret is written to."""
    access = node.folders[paths.credentials].get("access")
    if access and not same(access, ADMINISTRATORS) and any(file.secret and file.changed for file in files):
        yield (
            f"others than administrators may use {paths.credentials}, where a secret is written now: the role "
            "windows_host sees to that"
        )


def _endpoint(node: KubeletNode, paths: Paths, fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield that kubeadm would put another endpoint back. Source: kubeadm's phases/kubelet/config.go, from 1.36 on."""
    content = node.files.get(paths.instance_config)
    if content is None:
        return
    try:
        there = inspect_configuration(content).fields.get("containerRuntimeEndpoint")
    except KubeletConfigError:
        return
    wanted = fields.get("containerRuntimeEndpoint")
    if there and wanted and there != wanted:
        yield (
            f"{paths.instance_config} has containerRuntimeEndpoint {json.dumps(there)}, which kubeadm writes into "
            f"{paths.config} when it upgrades the node; set it to {json.dumps(wanted)}"
        )


def _health(fields: Mapping[str, Any]) -> str | None:
    """Return where kubelet tells its health, None for nowhere. Source: k8s.io/kubelet config/v1beta1, healthzPort."""
    port, address = fields.get("healthzPort", 10248), fields.get("healthzBindAddress") or "127.0.0.1"
    if not port:
        return None
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)  # noqa: S104 - what kubelet listens on
    return f"http://{f'[{local}]' if ':' in local else local}:{port}/healthz"
