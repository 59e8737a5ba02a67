"""A RuntimeClass in a namespace."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW517"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding at metadata.namespace. Source: kubernetes/api node/v1 (RuntimeClass is nonNamespaced)."""
    if item.mapping("metadata").get("namespace"):
        message = "a RuntimeClass is of the whole cluster: it has no namespace"
        yield item.warning(RULE, ("metadata", "namespace"), message, fix="take the namespace out", at_key=True)
