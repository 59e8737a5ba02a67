"""A handler whose name promises a guest's build."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.builds import UnknownBuild, resolve
from lockstep.finding import Finding
from lockstep.fleet.derivation.handlers import promised_guest
from lockstep.k8s.labels import WINDOWS_BUILD
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW515"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding where the handler's name ends in another build than the hosts that are selected.

    Source: containerd/containerd#8348 and KEP-4216: on upstream containerd a handler selects no build.
    """
    promised = promised_guest(item.handler) if item.for_windows else None
    if promised is None:
        return
    try:
        if resolve(item.selector.get(WINDOWS_BUILD, "")) == promised:
            return
    except UnknownBuild:
        pass
    message = f"the handler's name promises {promised}, and a name selects no build"
    hint = "what the node's host, or its pinned pause image, is of decides"
    fix = (
        f"give that guest a pool of its own, and use handler {item.handler.rpartition('-')[0]} (lockstep explain guest)"
    )
    yield item.warning(RULE, ("handler",), message, hint=hint, fix=fix)
