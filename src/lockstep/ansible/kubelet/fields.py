"""KubeletConfiguration fields as they are to be: what the task gives, and under it what follows from the node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.ansible.errors import TaskError, in_role
from lockstep.ansible.kubelet.node import AUTO, KubeletNode
from lockstep.ansible.kubelet.paths import Paths
from lockstep.k8s import quantities
from lockstep.kubelet.configuration import inspect_configuration
from lockstep.kubelet.joining import (
    BOOTSTRAP_KUBECONFIG,
    JOINED,
    KUBECONFIG,
    STANDALONE,
    client_ca_of,
    is_standalone,
    merged,
    needs_client,
)
from lockstep.kubelet.reserved import reserved

_RESERVED = "kubeReserved"


def is_joined(node: KubeletNode, arguments: Mapping[str, Any], paths: Paths) -> bool:
    """Return whether kubelet is to work with a cluster: it does so already, or there is something to join with."""
    flags = node.flags(arguments["version"])
    given = bool(arguments["bootstrap_kubeconfig"])
    files = node.there(paths.kubeconfig) or node.there(paths.bootstrap_kubeconfig)
    return given or files or bool({KUBECONFIG, BOOTSTRAP_KUBECONFIG} & flags.keys())


def planned_fields(node: KubeletNode, arguments: Mapping[str, Any], paths: Paths, *, joined: bool) -> dict[str, Any]:
    """Return the fields to merge into the node's file.

    Raises KubeletConfigError for a file that cannot be read, TaskError for fields that need a cluster where there is
    none.
    """
    given: Mapping[str, Any] = arguments["configuration"]
    there = inspect_configuration(node.content).fields if node.content is not None else {}
    under: dict[str, Any] = {}
    if not joined:
        _refuse_without_cluster(node, given, paths)
        under = dict(STANDALONE)
    elif is_standalone(there) and not node.registered(arguments["version"]):
        under = {**JOINED, "rotateCertificates": True}
    elif node.content is None:
        under["rotateCertificates"] = True
    if (arguments["client_ca"] or node.there(paths.client_ca)) and client_ca_of(there) is None:
        under = merged(under, {"authentication": {"x509": {"clientCAFile": paths.client_ca.replace("\\", "/")}}})
    return merged({**under, **_reserved(node, arguments)}, given)


def too_much_reserved(node: KubeletNode, fields: Mapping[str, Any]) -> str | None:
    """Return what is wrong where more memory is reserved than the machine has; None where it is not known."""
    memory = node.machine.get("memory_bytes")
    amounts = [(fields.get(name) or {}).get("memory") for name in ("systemReserved", _RESERVED)]
    known = [str(amount) for amount in amounts if amount is not None]
    if not memory or not known or any(quantities.problem(amount) for amount in known):
        return None
    total = sum(map(quantities.parse, known))
    if total < memory:
        return None
    parts = " and ".join(known)
    return (
        f"of {memory // 1024**2}Mi of memory {parts} would be reserved, and nothing left for pods; "
        "give the machine more, or say less in systemReserved and kubeReserved"
    )


def not_reserved(node: KubeletNode, arguments: Mapping[str, Any]) -> str | None:
    """Return that memory could not be reserved by the size of the machine, or None."""
    if arguments["reserved"] != AUTO or _RESERVED in arguments["configuration"] or node.machine["memory_bytes"]:
        return None
    return (
        "Windows does not tell how much memory this machine has, so kubeReserved has none by its size: "
        "say it in reserved, such as {cpu: 100m, memory: 1843Mi}"
    )


def _reserved(node: KubeletNode, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept from pods; who gives the field, says all of it."""
    wanted = arguments["reserved"]
    if _RESERVED in arguments["configuration"]:
        return {}
    if wanted == AUTO:
        return {_RESERVED: reserved(node.machine["processors"], node.machine["memory_bytes"] or None)}
    return {_RESERVED: dict(wanted)} if isinstance(wanted, Mapping) else {}


def _refuse_without_cluster(node: KubeletNode, given: Mapping[str, Any], paths: Paths) -> None:
    wrong = list(needs_client(given))
    if wrong:
        facts = {
            "node": str(node.system),
            "because": "\n".join(f"{each} needs a client of the cluster's API" for each in wrong),
            "do": f"give {in_role('bootstrap_kubeconfig', 'kubelet_bootstrap_kubeconfig')}, or join the node, so that "
            f"{paths.kubeconfig} is there; or leave it out: a kubelet with a cluster has it by default",
        }
        raise TaskError("kubelet has no cluster yet, and would not start like this", facts)
