"""A field that a RuntimeClass does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lockstep.finding import DataPath, Finding
from lockstep.rules.given.runtime_class import RuntimeClassManifest
from lockstep.words import nearest

RULE = "LW505"

_FIELDS: Mapping[DataPath, tuple[str, ...]] = {
    (): ("apiVersion", "kind", "metadata", "handler", "overhead", "scheduling"),
    ("scheduling",): ("nodeSelector", "tolerations"),
    ("overhead",): ("podFixed",),
}
_TOLERATION = ("key", "operator", "value", "effect", "tolerationSeconds")
_PLACES = {"nodeSelector": "scheduling", "tolerations": "scheduling", "podFixed": "overhead"}


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield each unknown field: kubectl refuses it (`strict decoding error: unknown field`), or it is dropped.

    Source: kubernetes/api node/v1 types, core/v1 Toleration.
    """
    for path, known in _FIELDS.items():
        yield from _unknown(item, path, item.mapping(*map(str, path)), known)
    tolerations = item.mapping("scheduling").get("tolerations")
    for index, entry in enumerate(tolerations if isinstance(tolerations, list) else ()):
        if isinstance(entry, Mapping):
            yield from _unknown(item, ("scheduling", "tolerations", index), entry, _TOLERATION)


def _unknown(
    item: RuntimeClassManifest, path: DataPath, found: Mapping[str, object], known: tuple[str, ...]
) -> Iterator[Finding]:
    for key in found:
        if key in known:
            continue
        where = ".".join(part for part in path if isinstance(part, str)) or "a RuntimeClass"
        meant = nearest(str(key), known)
        hint = f"did you mean '{meant}'?" if meant else None
        if key in _PLACES and not path:
            hint = f"its place is under {_PLACES[key]}"
        elif key == "spec":
            hint = "a RuntimeClass has no spec: handler, scheduling and overhead stand at its top"
        yield item.error(RULE, (*path, key), f"{where} has no field '{key}'", hint=hint, at_key=True)
