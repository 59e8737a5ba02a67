"""What was observed: nodes as the Kubernetes API has them, manifests as files have them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lockstep.k8s.taints import EFFECTS, Taint, Toleration


class ObservationError(Exception):
    """An observation that cannot be read: which, why, and what is expected."""


@dataclass(frozen=True, slots=True)
class Node:
    """A Node object; `handlers` is None where the API server or containerd is too old to list them."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    handlers: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a RuntimeClass manifest makes the scheduler and the kubelet do."""

    name: str
    handler: str
    node_selector: Mapping[str, str]
    tolerations: tuple[Toleration, ...]

    def selects(self, node: Node) -> bool:
        """Return whether a pod of this class may be put on this node, taints aside."""
        return all(node.labels.get(key) == value for key, value in self.node_selector.items())


def read_nodes(text: str) -> list[Node]:
    """Return the nodes of a NodeList, a List or one Node, as `kubectl get nodes -o json` prints them.

    Raises ObservationError where the text is something else.
    """
    try:
        document = json.loads(text)
        items = document["items"] if str(document["kind"]).endswith("List") else [document]
        return [_node(item) for item in items]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ObservationError(
            f"not a list of nodes as `kubectl get nodes -o json` prints it: {_why(error)}"
        ) from error


def read_manifests(folder: Path) -> list[Manifest]:
    """Return the RuntimeClasses in a folder's YAML files, in order of file name.

    Raises ObservationError where a file cannot be read or holds a RuntimeClass without name or handler.
    """
    manifests: list[Manifest] = []
    for path in sorted((*folder.glob("*.yaml"), *folder.glob("*.yml"))):
        try:
            documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
            manifests += [_manifest(item) for item in documents if item and item.get("kind") == "RuntimeClass"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError) as error:
            raise ObservationError(f"{path}: not a RuntimeClass manifest ({error})") from error
    return manifests


def _why(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, KeyError) else str(error)


def _node(item: Any) -> Node:
    taints = item.get("spec", {}).get("taints") or ()
    handlers = item.get("status", {}).get("runtimeHandlers")
    return Node(
        name=item["metadata"]["name"],
        labels=item["metadata"].get("labels") or {},
        taints=tuple(Taint(taint["key"], taint.get("value", ""), taint["effect"]) for taint in taints),
        handlers=None if handlers is None else frozenset(handler.get("name", "") for handler in handlers),
    )


def _manifest(item: Any) -> Manifest:
    scheduling = item.get("scheduling") or {}
    return Manifest(
        name=item["metadata"]["name"],
        handler=item["handler"],
        node_selector=scheduling.get("nodeSelector") or {},
        tolerations=_tolerations(scheduling.get("tolerations") or ()),
    )


def _tolerations(items: Sequence[Mapping[str, str]]) -> tuple[Toleration, ...]:
    return tuple(
        Toleration(
            key=item.get("key", ""),
            operator="Exists" if item.get("operator") == "Exists" else "Equal",
            value=item.get("value", ""),
            effect=next((effect for effect in EFFECTS if effect == item.get("effect")), ""),
        )
        for item in items
    )
