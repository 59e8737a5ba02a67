"""What a node must be and have before its kubelet can be configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.ansible.errors import TaskError, in_role
from lockstep.ansible.kubelet.desired import Desired
from lockstep.ansible.kubelet.node import NSSM, RUNNER, KubeletNode
from lockstep.ansible.kubelet.paths import Paths
from lockstep.ansible.node import same_path
from lockstep.ansible.service_definition import refuse_other_program
from lockstep.kubelet import log_runner, nssm

_PROGRAMS = ("kubelet.exe", log_runner.PROGRAM, nssm.PROGRAM)


def require(node: KubeletNode, arguments: Mapping[str, Any], *, check_mode: bool) -> list[str]:
    """Raise TaskError unless this is Windows of this build, whose kubelet, as far as it has one, has this release.

    Returns what has to be true once the task really runs: in check mode the node may be about to get its programs.
    """
    version = arguments["version"]
    node.system.require(arguments["host"])
    own = in_role("service", "kubelet_service")
    refuse_other_program(node.system, node.service.name, node.observed, _PROGRAMS, option=own)
    if not node.service.exists and arguments["state"] != "present":
        raise node.fail(
            f"this node has no service {node.service.name}",
            f"set {in_role('service', 'kubelet_service')} to the name that kubelet's service has there "
            "(sc.exe query lists all)",
        )
    loaded = node.flags(version).get("config")
    if loaded is not None and not same_path(loaded, node.path):
        raise node.fail(
            f"service {node.service.name} does not load {node.path}, but {loaded}",
            f"set {in_role('path', 'kubelet_path')} to {loaded}, or register it again",
        )
    if node.version is None and node.service.exists and not check_mode:
        raise node.fail(
            f"service {node.service.name} runs {node.program}, which is not there, or does not tell its release",
            f"set {in_role('program', 'kubelet_program')} to {node.program} if it is there, or run the role artifacts, "
            "which brings kubelet.exe",
        )
    if node.version in (None, version):
        return []
    told = f"this node has kubelet {node.version}, but Kubernetes {version} is described"
    if check_mode:
        return [f"{told}: this is what is to be done once the role artifacts has brought it"]
    raise node.fail(told, f"upgrade the node, or describe the pool with Kubernetes {node.version}")


def missing_programs(
    node: KubeletNode, arguments: Mapping[str, Any], wanted: Desired, *, check_mode: bool
) -> list[str]:
    """Raise TaskError for programs that have to be there before the service can run; in check mode they are told."""
    if arguments["state"] != "present":
        return []
    paths = Paths.of(arguments)
    missing = [] if node.version is not None else [paths.program]
    if wanted.wrapper == RUNNER != node.wrapper and not node.there(paths.runner):
        missing.append(paths.runner)
    if wanted.wrapper == NSSM != node.wrapper and not node.there(paths.nssm):
        missing.append(paths.nssm)
    services = [name for name, there in node.needs.items() if not there]
    own = [paths.provider(str(each["name"])) for each in arguments["credential_providers"]]
    providers = [path for path in own if not node.there(path)]
    lacking = [*missing, *providers, *(f"service {name}" for name in services)]
    if not lacking:
        return []
    if check_mode:
        return [f"not on the node yet: {', '.join(lacking)}"]
    needs = in_role("depends_on", "kubelet_depends_on")
    belong = f"credential providers belong into {paths.providers_folder}"
    facts = {
        "node": str(node.system),
        "missing": "\n".join(lacking),
        "do": "\n".join(
            advice
            for advice, needed in (
                ("run the role artifacts before this one, which puts kubelet's programs there", missing),
                ("nssm is one of them where artifacts_nssm_version says which", paths.nssm in missing),
                (f"run the role containerd before this one, or name other services in {needs}", services),
                (f"{belong}: the role artifacts brings them there, named in artifacts_extra", providers),
            )
            if needed
        ),
    }
    raise TaskError("this node lacks what kubelet's service needs, so nothing was done", facts)
