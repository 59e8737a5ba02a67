"""What kubelet on Windows refuses or ignores because it is Windows.

Source, where a rule names no other: kubernetes/kubernetes pkg/kubelet/apis/config/validation/validation.go and
validation_windows.go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lockstep.finding import DataPath
from lockstep.kubelet.fields import dotted, duration
from lockstep.kubelet.problem import Problem
from lockstep.kubelet.settings import ERROR, WARNING, Rule, Settings
from lockstep.words import nearest

FATAL_ON_WINDOWS = "LW310"
NODE_ALLOCATABLE = "LW311"
ENDPOINT = "LW312"
RESOLV_CONF = "LW313"
MANAGER_POLICY = "LW315"
SHUTDOWN = "LW317"
WITHOUT_EFFECT = "LW318"
PATH = "LW322"

_UNLIMITED = -1
_NEVER_BY_KUBEADM = frozenset({"podPidsLimit"})
"""Of the fields without effect the one that a file has because somebody wanted it; kubeadm writes others of itself."""


def fatal_on_windows(settings: Settings) -> Iterator[Problem]:
    """Fields that exist for Linux alone, which kubelet on Windows does not start with."""
    for name in sorted(settings.facts.fatal_on_windows & settings.fields.keys()):
        value = settings.fields[name]
        if value is not None and not (name == "defaultPodSysctls" and not value):
            yield Problem(
                FATAL_ON_WINDOWS, ERROR, (name,), f"kubelet on Windows does not start with {name}", "leave it out"
            )


def node_allocatable(settings: Settings) -> Iterator[Problem]:
    """`cgroupsPerQOS` and `enforceNodeAllocatable`: both default to Linux's values on every OS."""
    facts = settings.facts
    strict = not facts.enforce_node_allocatable
    cgroups, enforced = settings.get("cgroupsPerQOS", True), settings.get("enforceNodeAllocatable", ["pods"])
    wanted = f"write enforceNodeAllocatable: [{', '.join(facts.enforce_node_allocatable)}] and cgroupsPerQOS: false"
    if cgroups is True:
        effect = "keeps kubelet from starting on Windows" if strict else "does nothing on Windows"
        message = f"{settings.said('cgroupsPerQOS', 'true')} {effect}"
        yield Problem(NODE_ALLOCATABLE, ERROR if strict else WARNING, ("cgroupsPerQOS",), message, wanted)
    if not enforced:
        return
    path: DataPath = ("enforceNodeAllocatable",)
    said = settings.said("enforceNodeAllocatable", f"[{', '.join(map(str, enforced))}]")
    if "none" in enforced and len(enforced) > 1:
        yield Problem(NODE_ALLOCATABLE, ERROR, path, "enforceNodeAllocatable has 'none' and something else", wanted)
    elif strict:
        message = f"{said} keeps kubelet {facts.name} from starting on Windows"
        yield Problem(NODE_ALLOCATABLE, ERROR, path, message, wanted)
    elif list(enforced) != ["none"] and cgroups is False:
        message = f"{said} keeps kubelet from starting while cgroupsPerQOS is false"
        yield Problem(NODE_ALLOCATABLE, ERROR, path, message, wanted)
    elif list(enforced) != ["none"] and cgroups is True:
        message = f"{said} does nothing on Windows"
        yield Problem(NODE_ALLOCATABLE, WARNING, path, message, wanted)


def endpoint(settings: Settings) -> Iterator[Problem]:
    """Find an endpoint that is not containerd's, whose default is a Unix socket on every OS.

    Source: pkg/kubelet/apis/config/v1beta1/defaults.go.
    """
    if not settings.facts.endpoint_is_field:
        return
    value = settings.get("containerRuntimeEndpoint", "")
    if value is not None and not value.startswith(("npipe://", "tcp://")):
        said = f"is '{value}'" if value else "is empty, which means a Unix socket"
        if settings.fields.get("containerRuntimeEndpoint") is None:
            said = "is not written, and its default is a Unix socket"
        message = f"containerRuntimeEndpoint {said}: kubelet finds no containerd there"
        yield Problem(
            ENDPOINT, ERROR, ("containerRuntimeEndpoint",), message, "write npipe:////./pipe/containerd-containerd"
        )


def resolv_conf(settings: Settings) -> Iterator[Problem]:
    """Find a resolver file, which only '' and 'Host' do without. Source: pkg/kubelet/network/dns/dns_windows.go."""
    value = settings.get("resolvConf", "/etc/resolv.conf")
    if value not in (None, "", "Host"):
        said = settings.said("resolvConf", f"'{value}'")
        message = f"{said} keeps pods with dnsPolicy Default from starting, unless that file is on the node"
        yield Problem(RESOLV_CONF, WARNING, ("resolvConf",), message, 'write resolvConf: ""')


def manager_policies(settings: Settings) -> Iterator[Problem]:
    """CPU, memory and topology managers.

    Source: pkg/kubelet/cm/container_manager_windows.go and pkg/kubelet/cm/memorymanager/memory_manager.go.
    """
    allowed = {
        "cpuManagerPolicy": ("none", "static"),
        "memoryManagerPolicy": ("None", "BestEffort"),
        "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
    }
    gate = "WindowsCPUAndMemoryAffinity"
    for name, values in allowed.items():
        value = settings.fields.get(name)
        if value in (None, "", values[0]):
            continue
        if value not in values:
            known = " or ".join((", ".join(values[:-1]), values[-1]))
            message = f"{name} is '{value}', with which kubelet on Windows does not start: expected {known}"
            yield Problem(MANAGER_POLICY, ERROR, (name,), message, f"write {nearest(value, values) or values[0]}")
        elif not settings.gate(gate):
            there = gate in settings.facts.gates
            fix = f"set featureGates.{gate}: true, or leave it out" if there else "leave it out"
            message = f"{name} '{value}' does nothing on Windows " + (
                f"without the feature gate {gate}" if there else "before 1.32"
            )
            yield Problem(MANAGER_POLICY, WARNING, (name,), message, fix)


def shutdown(settings: Settings) -> Iterator[Problem]:
    """Graceful shutdown. Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager_windows.go."""
    total, critical = (
        duration(settings.fields.get("shutdownGracePeriod")),
        duration(settings.fields.get("shutdownGracePeriodCriticalPods")),
    )
    path: DataPath = ("shutdownGracePeriod",)
    for name, value in (("shutdownGracePeriod", total), ("shutdownGracePeriodCriticalPods", critical)):
        if value is not None and (value < 0 or 0 < value < 1):
            yield Problem(
                SHUTDOWN, ERROR, (name,), f"{name} is {settings.fields[name]}: expected 0s, or 1s or more", "correct it"
            )
    if critical and (total or 0 if settings.whole else total if total is not None else critical) < critical:
        message = "shutdownGracePeriodCriticalPods is more than shutdownGracePeriod, of which it is a part"
        yield Problem(SHUTDOWN, ERROR, ("shutdownGracePeriodCriticalPods",), message, "raise shutdownGracePeriod")
    if total and not settings.gate("WindowsGracefulNodeShutdown"):
        there = "WindowsGracefulNodeShutdown" in settings.facts.gates
        reason = "without the feature gate WindowsGracefulNodeShutdown" if there else f"in {settings.facts.name}"
        yield Problem(SHUTDOWN, WARNING, path, f"shutdownGracePeriod does nothing on Windows {reason}", "leave it out")
    if settings.fields.get("shutdownGracePeriodByPodPriority") and (total or critical):
        message = "shutdownGracePeriodByPodPriority and shutdownGracePeriod are both there: kubelet does not start"
        yield Problem(SHUTDOWN, ERROR, ("shutdownGracePeriodByPodPriority",), message, "keep one of the two")


def without_effect(settings: Settings) -> Iterator[Problem]:
    """Fields that do nothing on Windows. Source: kubernetes/website, "Windows containers in Kubernetes"."""
    names = settings.facts.without_effect & settings.fields.keys()
    if settings.whole:
        names &= _NEVER_BY_KUBEADM
    for name in sorted(names):
        unlimited = settings.whole and settings.fields[name] == _UNLIMITED
        if settings.fields[name] is not None and not unlimited:
            yield Problem(WITHOUT_EFFECT, WARNING, (name,), f"{name} does nothing on Windows", "leave it out")


def paths(settings: Settings) -> Iterator[Problem]:
    """Paths without a drive, which kubelet takes to be below the folder of its configuration file.

    Source: pkg/kubelet/apis/config/helpers.go `KubeletConfigurationPathRefs`, resolved as golang/go path/filepath
    `IsAbs` says.
    """
    ca = ((settings.fields.get("authentication") or {}).get("x509") or {}).get("clientCAFile")
    found: dict[DataPath, Any] = {("authentication", "x509", "clientCAFile"): ca}
    found |= {
        (name,): settings.fields.get(name)
        for name in ("staticPodPath", "tlsCertFile", "tlsPrivateKeyFile", "volumePluginDir")
    }
    for path, value in found.items():
        if value and not re.match(r"[A-Za-z]:[\\/]|\\\\", value):
            severity = WARNING if path[0] in ("staticPodPath", "volumePluginDir") else ERROR
            message = (
                f"{dotted(path)} is '{value}', without a drive: kubelet looks for it beside its configuration file"
            )
            example = f"C:{value.replace(chr(92), '/')}" if value[0] in "\\/" else "C:/k/ca.crt"
            yield Problem(PATH, severity, path, message, f"write the full path, such as {example}")


RULES: tuple[Rule, ...] = (
    fatal_on_windows,
    node_allocatable,
    endpoint,
    resolv_conf,
    manager_policies,
    shutdown,
    without_effect,
    paths,
)
