"""A class that selects no pool."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.nodes import planned_nodes
from lockstep.rules.given.runtime_class import RuntimeClassManifest
from lockstep.rules.given.together import Together

RULE = "LW605"


def find(given: Together) -> Iterator[Finding]:
    """Yield each class whose selector matches no pool of the description: its pods stay Pending.

    Source: kubernetes/kubernetes RuntimeClass admission, which merges the selector into the pod's.
    """
    if given.plan is None:
        return
    nodes = list(planned_nodes(given.plan))
    for item in given.windows_classes:
        if item.selector and not any(node.selected_by(item) for node in nodes):
            key = _first_unmet(item, [node.labels for node in nodes])
            message = "the class selects no pool of the description, so that its pods stay Pending"
            values = sorted({node.labels[key] for node in nodes if key in node.labels})
            hint = f"the pools have {key} {', '.join(values)}" if values else f"no pool has the label {key}"
            yield item.error(RULE, ("scheduling", "nodeSelector", key), message, hint=hint)


def _first_unmet(item: RuntimeClassManifest, labels: list[object]) -> str:
    """Return the selector's first key whose value no pool has, else its last."""
    for key, value in item.selector.items():
        if not any(isinstance(known, dict) and known.get(key) == value for known in labels):
            return key
    return list(item.selector)[-1]
