"""Two manifests for one class."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.runtime_class import RuntimeClassManifest
from lockstep.rules.given.together import Together

RULE = "LW608"


def find(given: Together) -> Iterator[Finding]:
    """Yield each later manifest of a name. Source: Kubernetes: an object is one by its name; the last apply wins."""
    first: dict[str, RuntimeClassManifest] = {}
    for item in given.classes:
        if not item.name:
            continue
        other = first.setdefault(item.name, item)
        if other is not item:
            place = other.key(("metadata", "name"))
            message = f"class {item.name} has a manifest in {place.file}, line {place.line} already"
            yield item.error(RULE, ("metadata", "name"), message, fix="keep one of the two")
