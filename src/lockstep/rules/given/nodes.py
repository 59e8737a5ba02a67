"""Nodes as the given files, or the pools of a description, make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.finding import DataPath, Place
from lockstep.fleet.plan import Plan
from lockstep.k8s.labels import ARCH, OS, WINDOWS_BUILD
from lockstep.k8s.taints import EFFECTS, Taint
from lockstep.kubelet.service_line import NODE_LABELS, pairs
from lockstep.rules.given.config_toml import ConfigToml
from lockstep.rules.given.kubelet import KubeletFile, KubeletLine
from lockstep.rules.given.runtime_class import RuntimeClassManifest

_TAINTS_FIELD = "registerWithTaints"
_TAINTS_FLAG = "register-with-taints"


@dataclass(frozen=True, slots=True)
class PlacedTaint:
    """A taint that kubelet registers its node with, and where that is written; None for a planned one."""

    taint: Taint
    place: Place | None
    path: DataPath = ()


@dataclass(frozen=True, slots=True)
class Node:
    """A node: its labels as far as they are known, the taints it registers with, its handlers (None: not known)."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[PlacedTaint, ...]
    handlers: frozenset[str] | None

    def selected_by(self, item: RuntimeClassManifest) -> bool:
        """Return whether a class selects it for certain, taints aside."""
        return bool(item.selector) and all(self.labels.get(key) == value for key, value in item.selector.items())


def planned_nodes(plan: Plan) -> Iterator[Node]:
    """Yield a node of each pool."""
    for pool in plan.pools.values():
        labels = {OS: "windows", ARCH: "amd64", WINDOWS_BUILD: pool.host, **pool.kubelet.node_labels}
        taints = tuple(PlacedTaint(taint, None) for taint in pool.kubelet.taints)
        handlers = frozenset(handler.name for handler in pool.containerd.handlers)
        yield Node(f"pool {pool.name}", labels, taints, handlers)


def given_node(
    configs: tuple[ConfigToml, ...], kubelets: tuple[KubeletFile, ...], lines: tuple[KubeletLine, ...]
) -> Node:
    """Return the node that the files are for."""
    labels = {OS: "windows", ARCH: "amd64"}
    for subject in (*configs, *kubelets, *lines):
        if subject.context.host:
            labels[WINDOWS_BUILD] = subject.context.host.label
    for line in lines:
        if line.parsed:
            labels |= pairs(use.value for use in line.parsed.of(NODE_LABELS))
    taints = (*_of_files(kubelets), *_of_lines(lines))
    return Node("the node", labels, taints, handlers_of(configs) if configs else None)


def handlers_of(configs: tuple[ConfigToml, ...]) -> frozenset[str]:
    """Return the handlers that containerd has with these files: theirs and its own, in any release that could be."""
    written = {handler.name for config in configs for handler in config.handlers}
    own = {
        name
        for config in configs
        for found in config.candidates
        if found.merges_handlers or not any(other.handlers for other in configs)
        for name in found.default_handlers
    }
    return frozenset(written | own)


def _of_files(kubelets: tuple[KubeletFile, ...]) -> Iterator[PlacedTaint]:
    for file in kubelets:
        found = file.view.fields.get(_TAINTS_FIELD)
        for index, entry in enumerate(found if isinstance(found, list) else ()):
            taint = _taint(entry)
            path = (_TAINTS_FIELD, index)
            if taint:
                yield PlacedTaint(taint, file.value(path), path)


def _of_lines(lines: tuple[KubeletLine, ...]) -> Iterator[PlacedTaint]:
    for line in lines:
        text = line.parsed.values().get(_TAINTS_FLAG, "") if line.parsed else ""
        for part in text.split(","):
            pair, _, effect = part.strip().rpartition(":")
            key, _, value = pair.partition("=")
            taint = _taint({"key": key, "value": value, "effect": effect})
            if taint:
                yield PlacedTaint(taint, line.value((_TAINTS_FLAG,)), (_TAINTS_FLAG,))


def _taint(entry: Any) -> Taint | None:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("key"), str) or not entry["key"]:
        return None
    effect = next((effect for effect in EFFECTS if effect == entry.get("effect")), None)
    value = entry.get("value") or ""
    return Taint(entry["key"], value, effect) if effect and isinstance(value, str) else None
