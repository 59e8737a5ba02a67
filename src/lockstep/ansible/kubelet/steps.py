"""The steps that make a node what it is to be, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.ansible.kubelet.desired import Desired
from lockstep.ansible.kubelet.node import KubeletNode
from lockstep.ansible.kubelet.paths import HEALTH_PROGRAM
from lockstep.ansible.node import Step
from lockstep.node.operations import Program, check_program, ensure_folder, restart_service, write_file

_HEALTHY = "ok"
"""Source: kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/server/healthz/healthz.go, InstallHandler."""


def steps_to(node: KubeletNode, wanted: Desired, arguments: Mapping[str, Any]) -> list[Step]:
    """Return what has to be done: a run that was interrupted is completed even if everything is right already.

    What is taken away from a stopped service is no reason to start it.
    """
    again, service = node.pending, node.service
    absent = arguments["state"] == "absent" and not service.running
    changes = [
        *(Step(f"make folder {each.path}", ensure_folder(each.path, each.access)) for each in wanted.folders),
        *_configuration(node, wanted, arguments),
        *(file.step() for file in wanted.files if file.changed or again),
        *wanted.service.steps(node, again=again),
    ]
    if not changes and (service.running or absent):
        return []
    if absent and not again:
        return changes
    word = "restart" if service.exists else "start"
    restart = restart_service(service.name, timeout_seconds=arguments["timeout"])
    return [*changes, Step(f"{word} service {service.name}", restart), *_health(node, wanted, arguments)]


def _configuration(node: KubeletNode, wanted: Desired, arguments: Mapping[str, Any]) -> list[Step]:
    new = wanted.content != node.content
    if wanted.content is None or not (new or node.pending):
        return []
    write = write_file(node.path, wanted.content, replaces=node.content, backup=arguments["backup"] and new)
    return [Step(f"write {node.path}", write)]


def _health(node: KubeletNode, wanted: Desired, arguments: Mapping[str, Any]) -> list[Step]:
    """Return the step that asks kubelet how it is, where Windows has a program for that.

    That a service runs says little of kubelet: it tells the service manager so before it has read its configuration.
    Source: kubernetes/kubernetes cmd/kubelet/app/init_windows.go.
    """
    if wanted.health is None or not node.there(HEALTH_PROGRAM):
        return []
    asked = ["--silent", "--show-error", "--fail", "--noproxy", "*", "--max-time", "5", wanted.health]
    check = check_program(
        Program(path=HEALTH_PROGRAM), asked, must_contain=[_HEALTHY], timeout_seconds=arguments["timeout"]
    )
    return [Step(f"ask kubelet for its health at {wanted.health}", check)]
