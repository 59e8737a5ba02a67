"""A Windows class without tolerations."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW511"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding where a Windows class selects nodes and tolerates no taint.

    Source: KEP-116 and Kubernetes documentation, "Guide for Running Windows Containers": Windows nodes are tainted.
    """
    if (
        item.for_windows
        and item.mapping("scheduling", "nodeSelector")
        and not item.mapping("scheduling").get("tolerations")
    ):
        message = "the class tolerates no taint, and Windows nodes are commonly tainted to keep Linux pods away"
        fix = "add scheduling.tolerations with the nodes' taint, such as os=windows:NoSchedule"
        yield item.warning(RULE, ("scheduling",), message, fix=fix, at_key=True)
