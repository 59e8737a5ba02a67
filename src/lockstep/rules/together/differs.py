"""A manifest that differs from what the description renders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lockstep.finding import DataPath, Finding
from lockstep.fleet.plan import ClassPlan
from lockstep.k8s import quantities
from lockstep.rules.given.runtime_class import RuntimeClassManifest
from lockstep.rules.given.together import Together
from lockstep.runtimeclass.render import MANAGED

RULE = "LW606"

_FIX = "run lockstep render, or change the description"


def find(given: Together) -> Iterator[Finding]:
    """Yield each value of a described class's manifest that is not the planned one; spelling does not count.

    Source: the description, from which nodes and manifests are both made.
    """
    if given.plan is None:
        return
    for item in given.classes:
        planned = given.plan.classes.get(item.name)
        if planned:
            yield from _differences(item, planned)


def _differences(item: RuntimeClassManifest, planned: ClassPlan) -> Iterator[Finding]:
    if item.handler != planned.handler:
        yield _other(item, ("handler",), f"handler is {planned.handler}")
    yield from _pairs(item, ("scheduling", "nodeSelector"), planned.node_selector)
    if set(item.tolerations) != set(planned.tolerations):
        wanted = ", ".join(_shown(entry.key, entry.value, entry.effect) for entry in planned.tolerations) or "none"
        yield _other(item, ("scheduling", "tolerations"), f"tolerations are {wanted}", at_key=True)
    overhead = {name: _canonical(value) for name, value in item.mapping("overhead", "podFixed").items()}
    if overhead != {name: _canonical(value) for name, value in planned.overhead.items()}:
        wanted = ", ".join(f"{name} {value}" for name, value in planned.overhead.items()) or "none"
        yield _other(item, ("overhead", "podFixed"), f"overhead is {wanted}", at_key=True)
    for kind, wanted_pairs in (("labels", MANAGED | dict(planned.labels)), ("annotations", planned.annotations)):
        found = item.mapping("metadata", kind)
        for key, value in wanted_pairs.items():
            if found.get(key) != value:
                yield _other(item, ("metadata", kind, key), f"{kind} have {key}: {value}")


def _pairs(item: RuntimeClassManifest, path: DataPath, wanted: Mapping[str, str]) -> Iterator[Finding]:
    found = item.mapping(*map(str, path))
    for key in [*found, *(key for key in wanted if key not in found)]:
        if key not in wanted:
            yield _other(item, (*path, key), f"nodeSelector has no {key}", at_key=True)
        elif found.get(key) != wanted[key]:
            yield _other(item, (*path, key), f"nodeSelector has {key}: {wanted[key]}")


def _other(item: RuntimeClassManifest, path: DataPath, planned: str, *, at_key: bool = False) -> Finding:
    message = f"the manifest of class {item.name} differs from the description, whose {planned}"
    return item.error(RULE, path, message, fix=_FIX, at_key=at_key)


def _shown(key: str, value: str, effect: str) -> str:
    return f"{key}{f'={value}' if value else ''}{f':{effect}' if effect else ''}"


def _canonical(value: object) -> str:
    try:
        return quantities.canonical(str(value))
    except quantities.QuantityError:
        return str(value)
