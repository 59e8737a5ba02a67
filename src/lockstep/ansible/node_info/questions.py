"""What a lockstep_node_info task asks a node: by name, in one request."""

from __future__ import annotations

import ntpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.ansible.containerd.node import TRANSACTION as CONTAINERD
from lockstep.ansible.containerd.node import dump_arguments, info_arguments
from lockstep.ansible.kubelet.node import TRANSACTION as KUBELET
from lockstep.ansible.node import ask_release, same_path
from lockstep.ansible.service_definition import program_name, program_of_line
from lockstep.kubelet import nssm
from lockstep.node.operations import (
    Operation,
    Program,
    Result,
    digest_file,
    read_certificates,
    read_defender,
    read_features,
    read_file,
    read_firewall,
    read_machine,
    read_power,
    read_registry,
    read_service,
    read_store,
    read_system,
    read_transaction,
    run_program,
)
from lockstep.windows import clock, pagefile
from lockstep.windows.settings import LONG_PATHS

REGISTRY = {
    "long_paths": LONG_PATHS.reading,
    "pagefile": pagefile.CONFIGURED,
    "time_source": clock.SOURCE,
    "time_server": clock.SERVERS,
}
"""Values of the registry that are told."""
_BY_NAME = {"features": ("feature.read", "features"), "firewall": ("firewall.read", "rules")}
"""Questions that take a list of names: their operation, and the key of its result."""
CERTIFICATES = {
    "kubelet_client": ("kubelet_pki", "kubelet-client-current.pem"),
    "kubelet_server": ("kubelet_pki", "kubelet-server-current.pem"),
    "kubelet_serving": ("kubelet_pki", "kubelet.crt"),
}
"""kubelet's own certificates: for the API server, for those who ask kubelet with serverTLSBootstrap, and without it.

Source: kubernetes/kubernetes pkg/kubelet/certificate/kubelet.go (the pairs kubelet-client and kubelet-server);
cmd/kubelet/app/server.go, InitializeTLS (kubelet.crt).
"""
CLUSTER_CA = "cluster_ca"


@dataclass(frozen=True, slots=True)
class Answers:
    """What the node answered, by the question's name."""

    results: Mapping[str, Result]

    def __call__(self, name: str) -> Result:
        """Return an answer; empty where the node could not give it, or was not asked."""
        result = self.results.get(name, {})
        return result if result.get("ok") else {}

    def errors(self) -> dict[str, str]:
        """Return what could not be read, in the node's words."""
        failed = {name: result for name, result in self.results.items() if not result["ok"]}
        return {name: f"{result['error']['message']} [{result['error']['code']}]" for name, result in failed.items()}


def questions(arguments: Mapping[str, Any], ahead: Sequence[Operation] = ()) -> dict[str, Operation]:
    """Return the operations for a task's arguments, by name, beside what is asked for later tasks in any case."""
    return {**_windows(arguments, ahead), **_containerd(arguments), **_kubelet(arguments), **_certificates(arguments)}


def answered(own: Mapping[str, Operation], ahead: Sequence[Operation], results: Sequence[Result]) -> Answers:
    """Return the answers to the questions and, of features and firewall rules, what was asked for later tasks too."""
    answers = dict(zip(own, results, strict=False))
    others = list(zip(ahead, results[len(own) :], strict=True))
    for name, (op, kind) in _BY_NAME.items():
        told = [answers[name]] if name in answers else []
        told += [result for asked, result in others if asked["op"] == op]
        failed = [result for result in told if not result["ok"]]
        if told:
            facts = {key: value for result in told if result["ok"] for key, value in result[kind].items()}
            answers[name] = failed[0] if failed else {"op": op, "ok": True, kind: facts}
    return Answers(answers)


def certificate_paths(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return where the certificates are, by name."""
    own = {name: rf"{arguments[folder]}\{file}" for name, (folder, file) in CERTIFICATES.items()}
    return {**own, CLUSTER_CA: arguments["cluster_ca"]}


def _windows(arguments: Mapping[str, Any], ahead: Sequence[Operation]) -> dict[str, Operation]:
    asked = {
        "system": read_system(),
        "machine": read_machine(),
        "defender": read_defender(),
        "power": read_power(),
        "store": read_store(arguments["store"]),
        "time_service": clock.READING,
        **REGISTRY,
    }
    for name, names, reads in (("features", "features", read_features), ("firewall", "firewall_rules", read_firewall)):
        # Windows takes seconds to tell of features, so none is asked for twice.
        told = {each for other in ahead if other["op"] == _BY_NAME[name][0] for each in other["names"]}
        if left := [each for each in arguments[names] if each not in told]:
            asked[name] = reads(left)
    return asked


def _containerd(arguments: Mapping[str, Any]) -> dict[str, Operation]:
    """Return what is asked of containerd; of its program, as if the service ran the one in the usual folder."""
    service, timeout = arguments["containerd_service"], arguments["timeout"]
    return {
        "containerd_file": read_file(arguments["containerd_path"]),
        "containerd_service": read_service(service),
        "containerd_nssm_program": read_registry(nssm.key(service), nssm.APPLICATION),
        "containerd_transaction": read_transaction(CONTAINERD),
        **_programs(arguments, Program(rf"{arguments['containerd_programs']}\containerd.exe")),
        "crictl_program": ask_release(Program(rf"{arguments['containerd_programs']}\crictl.exe"), timeout),
    }


def _programs(arguments: Mapping[str, Any], containerd: Program) -> dict[str, Operation]:
    timeout = arguments["timeout"]
    crictl = Program(arguments["crictl"] or ntpath.join(ntpath.dirname(str(containerd.path)), "crictl.exe"))
    return {
        "containerd_version": ask_release(containerd, timeout),
        "containerd_dump": run_program(
            containerd, dump_arguments(arguments["containerd_path"]), timeout_seconds=timeout
        ),
        "containerd_info": run_program(crictl, info_arguments(None), timeout_seconds=timeout),
        "crictl_version": ask_release(crictl, timeout),
    }


def elsewhere(answers: Answers, arguments: Mapping[str, Any]) -> dict[str, Operation]:
    """Return what is to be asked again where the service, or nssm for it, runs containerd from another folder."""
    line = str(answers("containerd_service").get("binary_path") or "")
    wrapped = program_name(line) == nssm.PROGRAM
    program = str(answers("containerd_nssm_program").get("value") or "") if wrapped else program_of_line(line)
    if not ntpath.dirname(program) or same_path(program, rf"{arguments['containerd_programs']}\containerd.exe"):
        return {}
    return _programs(arguments, Program(program))


def _kubelet(arguments: Mapping[str, Any]) -> dict[str, Operation]:
    service, timeout, folder = arguments["kubelet_service"], arguments["timeout"], arguments["kubernetes_programs"]
    programs = {
        "kubelet_version": Program(service=service, sibling="kubelet.exe"),
        "kubelet_program": Program(rf"{folder}\kubelet.exe"),
        "kube_proxy_program": Program(rf"{folder}\kube-proxy.exe"),
    }
    return {
        "kubelet_file": read_file(arguments["kubelet_path"]),
        "kubelet_service": read_service(service),
        "kubelet_nssm_program": read_registry(nssm.key(service), "Application"),
        "kubelet_nssm_arguments": read_registry(nssm.key(service), "AppParameters"),
        "kubelet_transaction": read_transaction(KUBELET),
        "kubeconfig": digest_file(arguments["kubeconfig"]),
        "kube_proxy_service": read_service(arguments["kube_proxy_service"]),
        **{name: ask_release(program, timeout) for name, program in programs.items()},
    }


def _certificates(arguments: Mapping[str, Any]) -> dict[str, Operation]:
    return {name: read_certificates(path) for name, path in certificate_paths(arguments).items()}
