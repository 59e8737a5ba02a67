"""What kubelet needs on Windows: its configuration, the labels and the taints that it registers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lockstep.catalog.kubernetes import Minor
from lockstep.finding import Finding, Severity
from lockstep.fleet import own_labels
from lockstep.fleet.derivation.pools import Site
from lockstep.fleet.plan import KubeletPlan, taint_to_data
from lockstep.k8s.taints import Taint

SETTLED_BY_WINDOWS = "LW270"
LABELS_TOO_LONG = "LW271"


_ENDPOINT = "npipe:////./pipe/containerd-containerd"
_LONGEST_COMMAND_LINE = 32_767
"""Source: Windows CreateProcessW, lpCommandLine."""
_OTHER_FLAGS = 2_000
_RESERVED_MEMORY = "2Gi"
"""Source: kubernetes/website, "Windows resource management": reserve at least 2 GiB for the operating system."""


def kubelet_plan(site: Site, class_labels: Mapping[str, str]) -> tuple[KubeletPlan, list[Finding]]:
    """Return what the pool's kubelets must have, and what of the user's additions contradicts it."""
    labels = dict(sorted({**site.pool.labels, own_labels.POOL: site.pool.name, **class_labels}.items()))
    plan = KubeletPlan(
        version=site.pool.kubernetes,
        configuration=planned_fields(site.pool.kubelet, site.pool.taint, site.minor),
        node_labels=labels,
        taints=(site.pool.taint,) if site.pool.taint else (),
    )
    return plan, [*_contradictions(site), *_label_findings(site, labels)]


def planned_fields(own: Mapping[str, Any], taint: Taint | None, minor: Minor) -> dict[str, Any]:
    """Return the KubeletConfiguration fields of a pool: the user's own, and over them those that Windows settles."""
    return dict(sorted({**_with_reserved_memory(own), **settled_fields(taint, minor)}.items()))


def settled_fields(taint: Taint | None, minor: Minor) -> dict[str, Any]:
    """Return the KubeletConfiguration fields that leave no choice on a node with Windows in this minor.

    Sources: kubernetes/kubernetes pkg/kubelet/apis/config/validation and cmd/kubelet/app/options (the Go defaults are
    Linux's on every OS); kubernetes/kubernetes cmd/kubeadm/app/componentconfigs/kubelet_windows.go (resolvConf).
    """
    endpoint = {"containerRuntimeEndpoint": _ENDPOINT} if minor.endpoint_is_field else {}
    return {
        "cgroupsPerQOS": False,
        **endpoint,
        "enforceNodeAllocatable": list(minor.enforce_node_allocatable),
        "registerWithTaints": [taint_to_data(taint)] if taint else [],
        "resolvConf": "",
    }


def _with_reserved_memory(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's fields with memory reserved for Windows itself, unless they say something about that."""
    own = dict(fields)
    # kubeReserved that is null is taken away from the nodes, and reserves nothing.
    system, kube = own.get("systemReserved", {}), own.get("kubeReserved") or {}
    if not (isinstance(system, Mapping) and isinstance(kube, Mapping)) or "memory" in {*system, *kube}:
        return own
    return {**own, "systemReserved": {**system, "memory": _RESERVED_MEMORY}}


def _contradictions(site: Site) -> Iterator[Finding]:
    for field, value in settled_fields(site.pool.taint, site.minor).items():
        given = site.pool.kubelet.get(field, value)
        if type(given) is type(value) and given == value:
            continue
        fix = "say it as the pool's taint instead" if field == "registerWithTaints" else "leave it out"
        message = f"{field} leaves no choice on Windows nodes with Kubernetes {site.minor.name}"
        hint = f"it is always {_shown(value)}"
        yield Finding(
            SETTLED_BY_WINDOWS, Severity.ERROR, ("pools", site.pool.name, "kubelet", field), message, hint, fix
        )


def _label_findings(site: Site, labels: Mapping[str, str]) -> Iterator[Finding]:
    length = sum(len(key) + len(value) + len("=,") for key, value in labels.items())
    if length > _LONGEST_COMMAND_LINE - _OTHER_FLAGS:
        message = f"pool {site.pool.name} has {len(labels)} labels, {length} characters on kubelet's command line"
        hint = f"a command line has {_LONGEST_COMMAND_LINE} characters at most"
        fix = (
            "select several classes' pools by one label: put it under the pools' labels and the classes' node_selector"
        )
        yield Finding(LABELS_TOO_LONG, Severity.ERROR, ("pools", site.pool.name), message, hint, fix)


def _shown(value: Any) -> str:
    taints = isinstance(value, list) and any(isinstance(item, Mapping) for item in value)
    return "the pool's own taint" if taints else json.dumps(value)
