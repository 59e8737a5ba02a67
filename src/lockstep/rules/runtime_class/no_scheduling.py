"""A Windows class that selects no nodes."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.k8s.labels import OS, WINDOWS_BUILD
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW507"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding where a Windows class has no nodeSelector.

    Source: KEP-1301: a RuntimeClass steers a pod by its selector; spec.os.name schedules nothing.
    """
    if item.for_windows and not item.mapping("scheduling", "nodeSelector"):
        message = "the class selects no nodes, so that its pods may land where the handler is missing"
        fix = f"add scheduling.nodeSelector with {OS}: windows, and {WINDOWS_BUILD} for the host's build"
        yield item.warning(RULE, ("scheduling", "nodeSelector"), message, fix=fix)
