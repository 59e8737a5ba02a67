"""What is wrong with what a kubelet_config task is given, and with file and command line as they would be then."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from typing import Any

from lockstep.ansible.errors import TaskError, listed
from lockstep.ansible.kubelet.line import flag_text
from lockstep.ansible.kubelet.node import AUTO, NONE, NSSM, RUNNER
from lockstep.catalog.data import load
from lockstep.catalog.kubernetes import Minor, UnknownMinor, minor
from lockstep.catalog.versions import VersionError
from lockstep.finding import Severity
from lockstep.k8s import quantities
from lockstep.k8s.names import dns_subdomain_problem
from lockstep.kubelet import credential_providers, log_runner
from lockstep.kubelet.check import check_command_line, check_configuration, check_fields
from lockstep.kubelet.command_line import PRIORITY_CLASSES, planned_flag_problem
from lockstep.kubelet.fields import dotted, duration, shown
from lockstep.kubelet.joining import certificates_problem, kubeconfig_problem
from lockstep.kubelet.problem import Problem
from lockstep.kubelet.service_line import NODE_LABELS, normal_name

_OPTION_OF_FLAG = {
    "config": "path",
    "config-dir": "config_dir",
    "kubeconfig": "kubeconfig",
    "bootstrap-kubeconfig": "kubeconfig, beside which it is",
    "windows-service": "wrapper, from which it follows",
    "image-credential-provider-config": "credential_providers",
    "image-credential-provider-bin-dir": "credential_provider_dir",
}
"""Flags that the task gives the service itself, and the option that says how."""
_MAY_GO = frozenset({"config-dir", "image-credential-provider-config", "image-credential-provider-bin-dir"})
"""Those of them that a kubelet starts without, so that null may take them away."""
_OWN_OPTION = {
    "hostname-override": "hostname_override",
    "node-ip": "node_ip",
    "windows-priorityclass": "priority_class",
}
"""Flags that may be given either way, but not both."""
_SHUTDOWN = ("shutdownGracePeriod", "shutdownGracePeriodCriticalPods", "shutdownGracePeriodByPodPriority")
_SHUTDOWN_GATE = "WindowsGracefulNodeShutdown"
_DROP_IN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.conf")


def refuse_wrong_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise TaskError for what kubelet would refuse, or pass over without stopping; nothing is asked of the node."""
    try:
        facts = minor(arguments["version"])
        problems = check_fields(arguments["configuration"], arguments["version"])
    except (UnknownMinor, VersionError) as error:
        raise TaskError(str(error)) from error
    errors = list(_owned_flags(arguments["flags"]))
    if arguments["state"] == "present":
        errors = [
            *(text(problem) for problem in problems if problem.severity is Severity.ERROR),
            *_labels(arguments["node_labels"]),
            *errors,
            *_flags(arguments["flags"], facts),
            *_twice(arguments),
            *_service(arguments, facts),
            *_joining(arguments),
            *_drop_ins(arguments, facts),
            *_reserved(arguments["reserved"], arguments["version"]),
            *credential_providers.problems(
                arguments["credential_providers"], facts, arguments["configuration"].get("featureGates") or {}
            ),
        ]
    if errors:
        raise TaskError(listed("kubelet cannot be configured like this:", errors))


def whole_problems(
    content: bytes | None, command_line: str, version: str, *, native: bool = True
) -> tuple[list[str], list[str]]:
    """Return why kubelet would not start on this file and command line, and what is questionable in them.

    `native` says that Windows starts kubelet as a service, itself or behind kube-log-runner, and not nssm.
    """
    problems = check_command_line(command_line, version, native=native)
    if not native:
        problems = [problem for problem in problems if problem.path != ("windows-service",)]
    if content is not None:
        problems = [*check_configuration(content, version, command_line), *problems]
    errors = [text(problem) for problem in problems if problem.severity is Severity.ERROR]
    return errors, [text(problem) for problem in problems if problem.severity is Severity.WARNING]


def shutdown_problem(fields: Mapping[str, Any], facts: Minor, wrapper: str, service: str) -> str | None:
    """Return why graceful shutdown does not work with this service although the fields ask for it, or None.

    Source: kubernetes/kubernetes pkg/kubelet/nodeshutdown/nodeshutdown_manager_windows.go, Start: it is for a kubelet
    that the service manager started, and looks for a service called kubelet.
    """
    asked = [name for name in _SHUTDOWN if _is_set(fields.get(name))]
    gates = fields.get("featureGates") or {}
    if not asked or not gates.get(_SHUTDOWN_GATE, facts.gates.get(_SHUTDOWN_GATE, False)):
        return None
    if wrapper == NSSM:
        return f"{asked[0]} does nothing under nssm: take wrapper kube-log-runner or none, or leave it out"
    if service.lower() != "kubelet":
        return f"{asked[0]} does nothing in a service called {service}: call it kubelet, or leave it out"
    return None


def logging_problems(arguments: Mapping[str, Any], facts: Minor, wrapper: str) -> list[str]:
    """Return what the wrapper cannot do with the log file as the task wants it."""
    given = [name for name in ("log_file", "log_max_size", "log_max_age") if arguments[name]]
    if wrapper == NONE:
        return [f"{name}: without a wrapper kubelet writes no log file" for name in given]
    if wrapper == NSSM and "log_max_age" in given:
        return ["log_max_age: nssm removes no old log files, leave it out"]
    if wrapper == RUNNER and not log_runner.knows(log_runner.LOG_FILE_SIZE, facts):
        told = f"kube-log-runner {facts.name} does not rotate its file, it does so from {log_runner.rotates_from()} on"
        return [f"{name}: {told}" for name in given if name != "log_file"]
    return []


def text(problem: Problem) -> str:
    """Return a problem as one line that names its field, once."""
    where = dotted(problem.path)
    named = str(problem.path[0]) in problem.message
    message = problem.message if named else f"{where}: {problem.message}"
    return "; ".join(part for part in (message, problem.hint, problem.fix) if part)


def _labels(labels: Mapping[str, Any]) -> Iterator[str]:
    for key, value in labels.items():
        if not isinstance(value, str):
            yield f'node_labels.{key}: {shown(value)} is not text: quote it, "" for a label without a value'


def _owned_flags(flags: Mapping[str, Any]) -> Iterator[str]:
    for name, value in flags.items():
        normal = normal_name(name)
        option = _OPTION_OF_FLAG.get(normal)
        if option and not (value is None and normal in _MAY_GO):
            yield f"flags.{name}: it is not given here, but with {option}"


def _flags(flags: Mapping[str, Any], facts: Minor) -> Iterator[str]:
    for name, value in flags.items():
        normal = normal_name(name)
        flag = facts.flags.get(normal)
        if value is None or normal in _OPTION_OF_FLAG:
            continue
        if normal == NODE_LABELS:
            yield f"flags.{name}: labels are given in node_labels"
        elif problem := planned_flag_problem(normal, flag_text(value) or "", facts):
            yield f"flags.{name}: {problem}"
        elif flag is not None and flag.field:
            yield f"flags.{name}: that is a field, which a flag would override: give {flag.field} in configuration"


def _twice(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name in arguments["flags"]:
        option = _OWN_OPTION.get(normal_name(name))
        if option and arguments[option]:
            yield f"flags.{name}: {option} says it too, keep one of the two"


def _service(arguments: Mapping[str, Any], facts: Minor) -> Iterator[str]:
    if arguments["wrapper"] != AUTO:
        yield from logging_problems(arguments, facts, arguments["wrapper"])
        wrong = shutdown_problem(arguments["configuration"], facts, arguments["wrapper"], arguments["service"])
        if wrong:
            yield f"configuration.{wrong}"
    size, age = arguments["log_max_size"], arguments["log_max_age"]
    if size and (problem := quantities.problem(size)):
        yield f"log_max_size: {problem}"
    seconds = duration(age)
    if age and (seconds is None or seconds <= 0):
        yield f"log_max_age: '{age}' is no duration: expected one such as 168h"
    name = arguments["hostname_override"]
    if name and (problem := dns_subdomain_problem(name.strip().lower())):
        yield f"hostname_override: {problem}"
    for address in (arguments["node_ip"] or "").split(","):
        if address and not _is_address(address.strip()):
            yield f"node_ip: '{address.strip()}' is no IP address"
    priority = arguments["priority_class"]
    if priority and priority not in PRIORITY_CLASSES:
        yield f"priority_class: '{priority}': expected one of {', '.join(PRIORITY_CLASSES)}"


def _joining(arguments: Mapping[str, Any]) -> Iterator[str]:
    kubeconfig, certificates = arguments["bootstrap_kubeconfig"], arguments["client_ca"]
    if kubeconfig and (problem := kubeconfig_problem(kubeconfig)):
        yield f"bootstrap_kubeconfig: {problem}"
    if certificates and (problem := certificates_problem(certificates)):
        yield f"client_ca: {problem}"


def _drop_ins(arguments: Mapping[str, Any], facts: Minor) -> Iterator[str]:
    """Yield what is wrong with drop-ins. Source: kubernetes/kubernetes cmd/kubelet/app/server.go, on --config-dir."""
    drop_ins = load("kubelet-service")["drop_ins"]
    asked = [name for name in ("config_dir", "drop_ins") if arguments[name]]
    if asked and facts.number < tuple(int(part) for part in drop_ins["free"].split(".")):
        yield f"{asked[0]}: kubelet {facts.name} reads no drop-ins, it does so from {drop_ins['free']} on"
        return
    for name, fields in arguments["drop_ins"].items():
        where = f"drop_ins.{name}"
        if not _DROP_IN.fullmatch(str(name)):
            yield f"{where}: kubelet reads files whose name ends in .conf: expected one such as 20-logs.conf"
        if not isinstance(fields, Mapping):
            yield f"{where}: expected fields of KubeletConfiguration, got {shown(fields)}"
            continue
        for problem in check_fields(fields, arguments["version"]):
            if problem.severity is Severity.ERROR:
                yield f"{where}: {text(problem)}"


def _reserved(reserved: Any, version: str) -> Iterator[str]:
    if isinstance(reserved, Mapping):
        for problem in check_fields({"kubeReserved": reserved}, version):
            if problem.severity is Severity.ERROR:
                yield f"reserved: {text(problem)}"
    elif reserved not in (AUTO, NONE):
        yield f"reserved: expected auto, none or a mapping such as {{cpu: 200m, memory: 1Gi}}, got {shown(reserved)}"


def _is_set(value: Any) -> bool:
    if isinstance(value, str):
        return bool(duration(value))
    return bool(value)


def _is_address(address: str) -> bool:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True
