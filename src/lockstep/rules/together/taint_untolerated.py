"""A taint that no class tolerates."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding, Severity
from lockstep.rules.given.together import Together

RULE = "LW602"


def find(given: Together) -> Iterator[Finding]:
    """Yield each taint of kubelet's own files that keeps the pods of every class away.

    Source: KEP-116: a Windows pod needs selector and toleration; kubernetes/kubernetes TaintToleration plugin.
    """
    classes = list(given.windows_classes)
    if not classes:
        return
    for placed in (placed for node in given.nodes for placed in node.taints if placed.place):
        taint = placed.taint
        met = any(toleration.tolerates(taint) for item in classes for toleration in item.tolerations)
        if taint.effect != "PreferNoSchedule" and not met:
            message = f"no class tolerates the taint {taint}: none of their pods is scheduled to the node"
            fix = "add a toleration with the same key, value and effect to the classes (letter case counts)"
            yield Finding(RULE, Severity.ERROR, placed.path, message, None, fix, placed.place)
