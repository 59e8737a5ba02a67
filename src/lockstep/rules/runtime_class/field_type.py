"""A value of a type that the API server does not decode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lockstep.finding import DataPath, Finding
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW506"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield each mapping, list or text that is something else, such as a selector's value without quotes.

    Source: kubernetes/api node/v1 and core/v1 types (`cannot unmarshal bool into Go struct field ... of type string`).
    """
    for name in ("metadata", "scheduling", "overhead"):
        yield from _mapping(item, (name,), item.data.get(name))
    for path in (("scheduling", "nodeSelector"), ("metadata", "labels"), ("metadata", "annotations")):
        found = item.mapping(*path[:-1]).get(path[-1])
        yield from _mapping(item, path, found)
        yield from _texts(item, path, found)
    yield from _mapping(item, ("overhead", "podFixed"), item.mapping("overhead").get("podFixed"))
    yield from _tolerations(item, item.mapping("scheduling").get("tolerations"))


def _mapping(item: RuntimeClassManifest, path: DataPath, found: Any) -> Iterator[Finding]:
    if found is not None and not isinstance(found, Mapping):
        yield item.error(RULE, path, f"{path[-1]} is no mapping, and the API server refuses it")


def _texts(item: RuntimeClassManifest, path: DataPath, found: Any) -> Iterator[Finding]:
    for key, value in found.items() if isinstance(found, Mapping) else ():
        if value is not None and not isinstance(value, str):
            message = f"the value of '{key}' is no text, and the API server refuses it"
            yield item.error(RULE, (*path, key), message, fix="put it in quotes")


def _tolerations(item: RuntimeClassManifest, found: Any) -> Iterator[Finding]:
    path: DataPath = ("scheduling", "tolerations")
    if found is not None and not isinstance(found, list):
        yield item.error(RULE, path, "tolerations is no list, and the API server refuses it", fix="start each with -")
        return
    for index, entry in enumerate(found or ()):
        if not isinstance(entry, Mapping):
            yield item.error(RULE, (*path, index), "a toleration is a mapping with key, operator, value and effect")
            continue
        texts = {key: value for key, value in entry.items() if key != "tolerationSeconds"}
        yield from _texts(item, (*path, index), texts)
