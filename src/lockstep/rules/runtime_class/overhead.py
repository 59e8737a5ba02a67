"""An overhead that the API server refuses."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.k8s import quantities
from lockstep.rules.given.runtime_class import RuntimeClassManifest
from lockstep.words import nearest

RULE = "LW513"

_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_HUGEPAGES = "hugepages-"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield each quantity that is none, is negative, or is of a resource that containers do not have.

    Source: kubernetes/kubernetes pkg/apis/node/validation, validateOverhead.
    """
    for name, value in item.mapping("overhead", "podFixed").items():
        path = ("overhead", "podFixed", name)
        if not isinstance(name, str) or not (name in _RESOURCES or name.startswith(_HUGEPAGES) or "/" in name):
            meant = nearest(str(name), _RESOURCES)
            message = f"the API server refuses this overhead: '{name}' is no resource of a container"
            yield item.error(RULE, path, message, hint=f"did you mean '{meant}'?" if meant else None, at_key=True)
        elif isinstance(value, bool) or not isinstance(value, str | int | float):
            yield item.error(RULE, path, f"the API server refuses this overhead: {name} is no quantity")
        elif problem := quantities.problem(str(value)):
            yield item.error(RULE, path, f"the API server refuses this overhead: {problem}")
        elif str(value).startswith("-") and quantities.parse(str(value)) < 0:
            yield item.error(RULE, path, f"the API server refuses this overhead: {name} is negative")
