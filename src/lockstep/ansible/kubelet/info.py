"""What a kubelet_config_info task does: one read, told as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lockstep.ansible.errors import TaskError
from lockstep.ansible.kubelet.node import KubeletNode, read_node
from lockstep.ansible.text import masked_fields, masked_flags, shown_command_line
from lockstep.catalog.kubernetes import UnknownMinor, minor
from lockstep.kubelet.configuration import inspect_configuration
from lockstep.kubelet.problem import KubeletConfigError
from lockstep.kubelet.service_line import pairs
from lockstep.node.session import Session


def read_configuration(session: Session, arguments: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:  # noqa: ARG001 - reads in check mode as it does otherwise
    """Return the task's result. Raises TaskError where the node cannot be read."""
    node = read_node(session, arguments)
    result = {
        "changed": False,
        "path": node.path,
        "exists": node.content is not None,
        "service": replace(node.service, binary_path=shown_command_line(node.service.binary_path)).data(),
        "pending": node.pending,
        "node": node.system.data(),
        **configured(node.content),
    }
    if node.version is not None:
        result["version"] = node.version
    return {**result, **_flags(node)}


def configured(content: bytes | None) -> dict[str, Any]:
    """Return the fields of a configuration, or why it cannot be read; nothing where there is none."""
    if content is None:
        return {}
    try:
        return {"configuration": masked_fields(inspect_configuration(content).fields)}
    except KubeletConfigError as error:
        return {"configuration_error": str(error)}


def _flags(node: KubeletNode) -> dict[str, Any]:
    if not node.service.exists or node.version is None:
        return {}
    try:
        minor(node.version)
        flags = node.flags(node.version)
    except TaskError as error:
        return {"flags_error": error.message}
    except UnknownMinor as error:
        raise TaskError(str(error), {"node": str(node.system)}) from error
    return {
        "flags": masked_flags(flags),
        "node_labels": pairs([flags.get("node-labels")]),
        "registered": node.registered(node.version),
        "wrapper": node.wrapper,
    }
