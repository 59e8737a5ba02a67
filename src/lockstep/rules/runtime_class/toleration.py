"""A toleration that the API server refuses, or that meets more than was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lockstep.finding import DataPath, Finding
from lockstep.k8s.taints import toleration_problem
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW512"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield each wrong toleration. Source: kubernetes/kubernetes pkg/apis/core/validation, ValidateTolerations."""
    found = item.mapping("scheduling").get("tolerations")
    for index, entry in enumerate(found if isinstance(found, list) else ()):
        if isinstance(entry, Mapping):
            yield from _one(item, ("scheduling", "tolerations", index), entry)


def _one(item: RuntimeClassManifest, path: DataPath, entry: Mapping[str, Any]) -> Iterator[Finding]:
    parts = [entry.get(name) for name in ("key", "operator", "value", "effect")]
    if any(part is not None and not isinstance(part, str) for part in parts):
        return
    key, operator, value, effect = (str(part or "") for part in parts)
    if problem := toleration_problem(key, operator or "Equal", value, effect):
        yield item.error(RULE, path, f"the API server refuses this toleration: {problem}")
    elif entry.get("tolerationSeconds") is not None and effect != "NoExecute":
        message = "the API server refuses this toleration: tolerationSeconds goes with effect NoExecute alone"
        yield item.error(RULE, (*path, "tolerationSeconds"), message, fix="take tolerationSeconds out")
    elif not key:
        message = "this toleration meets every taint, so that pods stay on nodes that are dead or being drained"
        yield item.warning(RULE, path, message, fix="name the taint's key")
