"""The Node object that a kubelet registers and keeps.

Sources: kubernetes v1.36.1 pkg/kubelet/kubelet_node_status.go (initialNode, tryRegisterWithAPIServer,
updateDefaultLabels), kubelet_node_status_windows.go, pkg/kubelet/nodestatus/setters.go; pkg/kubelet/winstats for
names of the system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from lockstep.sim.hardware import Hardware
from lockstep.sim.machine import Facts

_DEFAULT_LABELS = (
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "node.kubernetes.io/windows-build",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
)
"""The labels that a kubelet reconciles on a Node that is registered already; no other label is touched again."""


def registered(
    existing: Mapping[str, Any] | None,
    name: str,
    facts: Facts,
    *,
    labels: Mapping[str, str],
    taints: Sequence[Any],
    now: str,
) -> dict[str, Any]:
    """Return the Node after registration.

    Made with labels and taints where there was none, else only its default labels brought up to date.
    """
    windows_build = ".".join(facts.build.split(".")[:3])
    own = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "windows",
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "windows",
        "beta.kubernetes.io/arch": "amd64",
        "node.kubernetes.io/windows-build": windows_build,
        **labels,
    }
    if existing is not None:
        metadata = dict(existing["metadata"])
        metadata["labels"] = {
            **metadata["labels"],
            **{key: value for key, value in own.items() if key in _DEFAULT_LABELS},
        }
        return {**existing, "metadata": metadata}
    spec: dict[str, Any] = {}
    if taints:
        spec["taints"] = [dict(taint) for taint in taints]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
            "creationTimestamp": now,
            "labels": dict(sorted(own.items())),
            "name": name,
            "uid": str(uuid4()),
        },
        "spec": spec,
        "status": {},
    }


NETWORK_NOT_READY = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
    "message:Network plugin returns error: cni plugin not initialized"
)


@dataclass(frozen=True, slots=True)
class Running:
    """What a running kubelet tells of itself. `handlers` is None where it does not report runtime handlers."""

    kubelet: str
    containerd: str
    handlers: Sequence[str] | None
    max_pods: int
    network_ready: bool
    hardware: Hardware


def status(facts: Facts, running: Running, now: str) -> dict[str, Any]:
    """Return the status of a Node whose kubelet runs."""
    ready = ("True", "KubeletReady", "kubelet is posting ready status")
    if not running.network_ready:
        ready = ("False", "KubeletNotReady", NETWORK_NOT_READY)
    document: dict[str, Any] = {
        "capacity": {
            "cpu": str(running.hardware.processors),
            "memory": f"{running.hardware.memory // 1024}Ki",
            "ephemeral-storage": f"{running.hardware.disk // 1024}Ki",
            "pods": str(running.max_pods),
        },
        "conditions": [
            _condition(
                "MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available", now
            ),
            _condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure", now),
            _condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available", now),
            _condition("Ready", *ready, now),
        ],
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": f"containerd://{running.containerd}",
            "kernelVersion": facts.build,
            "kubeProxyVersion": "",
            "kubeletVersion": f"v{running.kubelet}",
            "machineID": facts.name,
            "operatingSystem": "windows",
            "osImage": facts.product,
            "systemUUID": "",
        },
    }
    if running.handlers is not None:
        features = {"recursiveReadOnlyMounts": False, "userNamespaces": False}
        document["runtimeHandlers"] = [{"features": dict(features), "name": name} for name in running.handlers]
    return document


def _condition(kind: str, value: str, reason: str, message: str, now: str) -> dict[str, str]:
    return {
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
        "message": message,
        "reason": reason,
        "status": value,
        "type": kind,
    }
