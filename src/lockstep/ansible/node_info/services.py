"""What a node says of containerd, kubelet and kube-proxy, as facts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from lockstep.ansible.containerd.answers import configured, dump_error, loaded_handlers
from lockstep.ansible.kubelet import info as kubelet
from lockstep.ansible.node import Service, release_of
from lockstep.ansible.node_info.questions import Answers, certificate_paths
from lockstep.ansible.service_definition import program_name
from lockstep.ansible.text import masked_flags, shown_command_line
from lockstep.catalog.kubernetes import UnknownMinor
from lockstep.containerd import ContainerdConfigError
from lockstep.kubelet import log_runner, nssm
from lockstep.kubelet.problem import CommandLineError
from lockstep.kubelet.service_line import pairs, parse_command_line
from lockstep.node.operations import Result, content_of

_VERSIONS = {
    "containerd": ("containerd_version",),
    "crictl": ("crictl_version", "crictl_program"),
    "kubelet": ("kubelet_version", "kubelet_program"),
    "kube_proxy": ("kube_proxy_program",),
}
"""Where each program's release is told: that which the service runs goes before that which lies in the usual folder."""
_DEFINITION = ("depends_on", "account", "recovery")


def service_facts(answers: Answers, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts about containerd, kubelet and kube-proxy, and about certificates.

    A program, file or service that is not there is null or `exists: false`.
    """
    versions = {name: _release(answers, asked) for name, asked in _VERSIONS.items()}
    services = {
        name: _service(arguments[f"{name}_service"], answers(f"{name}_service"))
        for name in ("containerd", "kubelet", "kube_proxy")
    }
    return {
        "versions": versions,
        "services": services,
        "containerd": _containerd(answers, arguments),
        "kubelet": _kubelet(answers, arguments, versions["kubelet"]),
        "certificates": _certificates(answers, arguments),
    }


def _release(answers: Answers, asked: tuple[str, ...]) -> str | None:
    found = (release_of(answers(name)) for name in asked if answers(name))
    return next((release for release in found if release), None)


def _service(name: str, result: Result) -> dict[str, Any]:
    """Return a service without what may be secret: of its environment only the names of the variables."""
    if not result:
        return {"name": name}
    facts = Service.of(name, result).data()
    if "binary_path" in facts:
        facts["command_line"] = shown_command_line(facts.pop("binary_path"))
    facts |= {key: result[key] for key in _DEFINITION if key in result}
    if "environment" in result:
        facts["environment"] = [line.partition("=")[0] for line in result["environment"]]
    return facts


def _containerd(answers: Answers, arguments: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {"path": arguments["containerd_path"]}
    if file := answers("containerd_file"):
        facts["exists"] = file["exists"]
    if transaction := answers("containerd_transaction"):
        facts["interrupted"] = transaction["pending"]
    # What the program would make of its file is in effect only where a service runs it.
    if answers("containerd_service").get("exists"):
        facts |= _effective(answers("containerd_dump"))
    return {**facts, "loaded_handlers": loaded_handlers(answers("containerd_info"))}


def _effective(dump: Result) -> dict[str, Any]:
    if not dump.get("found"):
        return {}
    if said := dump_error(dump):
        return {"error": said}
    try:
        return configured(dump["stdout"].encode())
    except ContainerdConfigError as error:
        return {"error": f"what containerd config dump prints cannot be read: {error}"}


def _kubelet(answers: Answers, arguments: Mapping[str, Any], version: str | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"path": arguments["kubelet_path"]}
    if file := answers("kubelet_file"):
        facts |= {"exists": file["exists"], **kubelet.configured(content_of(file))}
    if transaction := answers("kubelet_transaction"):
        facts["interrupted"] = transaction["pending"]
    if kubeconfig := answers("kubeconfig"):
        facts["kubeconfig"] = {"path": arguments["kubeconfig"], "exists": kubeconfig["exists"]}
    service = answers("kubelet_service")
    if service.get("exists") and version is not None:
        facts |= _flags(service["binary_path"], answers, version)
    return facts


def _flags(line: str, answers: Answers, version: str) -> dict[str, Any]:
    """Return kubelet's own command line, whatever starts it."""
    try:
        if program_name(line) == nssm.PROGRAM:
            names = {"Application": "kubelet_nssm_program", "AppParameters": "kubelet_nssm_arguments"}
            own = nssm.line_of({name: answers(asked).get("value") for name, asked in names.items()})
        else:
            own = log_runner.take_apart(line).line
        flags = parse_command_line(own, version).values()
    except (CommandLineError, UnknownMinor) as error:
        return {"flags_error": str(error)}
    return {"flags": masked_flags(flags), "node_labels": pairs([flags.get("node-labels")])}


def _certificates(answers: Answers, arguments: Mapping[str, Any]) -> dict[str, Any]:
    now = answers("machine").get("utc")
    return {name: _certificate(path, answers(name), now) for name, path in certificate_paths(arguments).items()}


def _certificate(path: str, result: Result, now: str | None) -> dict[str, Any]:
    """Return the certificate of a file that expires first, and how many days from the node's own time."""
    facts: dict[str, Any] = {"path": path}
    if result:
        facts["exists"] = result["exists"]
    if result.get("certificates"):
        facts |= min(result["certificates"], key=lambda each: str(each["not_after"]))
        if now is not None:
            facts["days_left"] = (_time(facts["not_after"]) - _time(now)).days
    return facts


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
