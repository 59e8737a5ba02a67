"""A class that selects nodes whose taint it does not tolerate."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.together import Together

RULE = "LW604"


def find(given: Together) -> Iterator[Finding]:
    """Yield a finding for each taint that keeps a class's pods away from nodes that it selects for certain.

    Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/tainttoleration.
    """
    for item in given.windows_classes:
        refused: dict[str, list[str]] = {}
        for node in (node for node in given.nodes if node.selected_by(item)):
            for placed in node.taints:
                met = any(toleration.tolerates(placed.taint) for toleration in item.tolerations)
                if placed.taint.effect != "PreferNoSchedule" and not met:
                    refused.setdefault(str(placed.taint), []).append(node.name)
        for taint, nodes in refused.items():
            message = f"the class selects {', '.join(nodes)} and does not tolerate the taint {taint} there"
            fix = "add a toleration with the same key, value and effect (letter case counts)"
            yield item.error(RULE, ("scheduling", "tolerations"), message, fix=fix, at_key=True)
