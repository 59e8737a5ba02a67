"""Labels and taints that kubelet will not give its node any more, because it has registered it already.

Source: kubernetes/kubernetes pkg/kubelet/kubelet_node_status.go, tryRegisterWithAPIServer.
"""

from __future__ import annotations

from collections.abc import Mapping

from lockstep.ansible.kubelet.node import KubeletNode
from lockstep.kubelet.configuration import inspect_configuration
from lockstep.kubelet.service_line import NODE_LABELS, pairs, parse_command_line

_TAINTS = "registerWithTaints"


def too_late(node: KubeletNode, content: bytes | None, line: str, version: str) -> list[str]:
    """Return how the cluster is told what kubelet will not tell it; nothing where it has not registered its node."""
    if not node.registered(version):
        return []
    flags = node.flags(version)
    name = node.node_name(flags)
    before, after = pairs([flags.get(NODE_LABELS)]), _labels(line, version)
    labels = [f"{key}={value}" for key, value in after.items() if before.get(key) != value]
    labels += [f"{key}-" for key in before if key not in after]
    old, new = _taints(node.content), _taints(content)
    taints = [*(text for text in new if text not in old), *(f"{text}-" for text in old if text not in new)]
    commands = []
    if labels:
        commands.append(f"kubectl label node {name} --overwrite {' '.join(labels)}")
    if taints:
        commands.append(f"kubectl taint nodes {name} --overwrite {' '.join(taints)}")
    if not commands:
        return []
    what = " and ".join(text for text, there in (("labels", labels), ("taints", taints)) if there)
    return [f"kubelet gives its node {what} only when it registers it, and {name} is registered: {'; '.join(commands)}"]


def _labels(line: str, version: str) -> dict[str, str]:
    return pairs([parse_command_line(line, version).values().get(NODE_LABELS)])


def _taints(content: bytes | None) -> list[str]:
    """Return the taints as kubectl writes them, without what a person's file has there that is no taint."""
    fields = inspect_configuration(content).fields if content else {}
    found = fields.get(_TAINTS)
    return [
        f"{taint['key']}{'=' if taint.get('value') else ''}{taint.get('value') or ''}:{taint['effect']}"
        for taint in (found if isinstance(found, list) else ())
        if isinstance(taint, Mapping) and taint.get("key") and taint.get("effect")
    ]
