"""The handler of dockershim, which is gone."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW504"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding at handler `docker`. Source: Kubernetes 1.24 release notes: dockershim is removed."""
    if item.handler == "docker":
        message = "the handler 'docker' was dockershim's, which went with Kubernetes 1.24: no node has it"
        yield item.error(RULE, ("handler",), message, fix="write handler: runhcs-wcow-process")
