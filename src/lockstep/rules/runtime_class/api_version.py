"""An apiVersion that the API server no longer serves."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW501"

_SERVED = "node.k8s.io/v1"
_GONE = {"node.k8s.io/v1beta1": "1.25"}


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding where the apiVersion is not node.k8s.io/v1.

    Source: Kubernetes documentation, "Deprecated API Migration Guide" (v1 is there from 1.20).
    """
    found = item.data.get("apiVersion")
    if found == _SERVED:
        return
    gone = _GONE.get(found) if isinstance(found, str) else None
    message = f"the API server serves no RuntimeClass as {found or 'an object without apiVersion'}"
    if gone:
        message = f"{found} is not served from Kubernetes {gone} on"
    yield item.error(
        RULE, ("apiVersion",), message, fix=f"write apiVersion: {_SERVED}", replacement=_SERVED if gone else None
    )
