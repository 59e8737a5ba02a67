"""Node selectors: the smallest label set that selects exactly the nodes of a class's pools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lockstep.catalog.builds import Build
from lockstep.finding import Finding, Severity
from lockstep.fleet import own_labels
from lockstep.fleet.derivation.classes import Placement, PoolSet
from lockstep.fleet.model import Pool
from lockstep.k8s.labels import ARCH, OS, WINDOWS_BUILD, key_problem

SELECTS_OTHERS = "LW230"
NO_CLASS_LABEL = "LW231"
SELECTS_NO_WINDOWS = "LW232"

ALWAYS: Mapping[str, str] = {OS: "windows", ARCH: "amd64"}
"""What every class selects by. Source: KEP-1301, nodeSelector of its RuntimeClass examples."""


_FEW = 3

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Selection:
    """How each class reaches its pools, by class name; the class labels that this needs, by pool; and what is wrong."""

    reached_by: Mapping[str, Labels]
    class_labels: Mapping[str, Labels]
    findings: tuple[Finding, ...]


def select(pools: Mapping[str, Pool], placements: Iterable[Placement]) -> Selection:
    """Return how each class reaches exactly its own pools."""
    every = list(placements)
    per_host = Counter(pool.host for pool in pools.values())
    reached_by: dict[str, Labels] = {}
    by_label: dict[PoolSet, list[str]] = {}
    findings: list[Finding] = []
    for placement in every:
        item = placement.runtime_class
        if item.node_selector is not None:
            continue
        labels = _shared_label(placement.pools, per_host)
        if labels is None:
            key = f"{own_labels.CLASS_DOMAIN}/{item.name}"
            labels = {key: "true"}
            by_label.setdefault(placement.pools, []).append(key)
            if problem := key_problem(key):
                findings.append(_no_class_label(item.name, problem))
        reached_by[item.name] = labels
    class_labels = _by_pool(by_label)
    index = _Index(pools, by_label)
    for placement in every:
        if placement.runtime_class.node_selector is not None:
            labels, finding = _override(placement, placement.runtime_class.node_selector, index)
            reached_by[placement.runtime_class.name] = labels
            findings += [finding] if finding else []
    return Selection(reached_by, class_labels, tuple(findings))


def _shared_label(pools: PoolSet, per_host: Mapping[Build, int]) -> Labels | None:
    """Return a label that these pools have anyway and no other pool has, or None."""
    if len(pools.hosts) == 1:
        (host,) = pools.hosts
        if per_host[host] == len(pools.names):
            return {WINDOWS_BUILD: host.label}
    return {own_labels.POOL: pools.names[0]} if len(pools.names) == 1 else None


def _by_pool(by_label: Mapping[PoolSet, list[str]]) -> dict[str, Labels]:
    labels: dict[str, dict[str, str]] = {}
    for pools, keys in by_label.items():
        for name in pools.names:
            labels.setdefault(name, {}).update(dict.fromkeys(keys, "true"))
    return dict(labels)


@dataclass
class _Index:
    """Which pools have a label; built when the first selector of a user's own asks."""

    pools: Mapping[str, Pool]
    by_label: Mapping[PoolSet, list[str]]
    _having: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    _selected: dict[frozenset[tuple[str, str]], frozenset[str]] = field(default_factory=dict)

    def selected(self, labels: Labels) -> frozenset[str]:
        """Return the names of the pools whose nodes have all of these labels."""
        key = frozenset(labels.items())
        if key not in self._selected:
            if not self._having:
                self._build()
            having = sorted((self._having.get(label, set()) for label in key), key=len)
            self._selected[key] = frozenset(having[0].intersection(*having[1:])) if having else frozenset(self.pools)
        return self._selected[key]

    def without(self, key: str) -> bool:
        """Return whether no pool has a label of this key."""
        return not any(known == key for known, _ in self._having)

    def _build(self) -> None:
        for pool in self.pools.values():
            own = {**pool.labels, own_labels.POOL: pool.name, WINDOWS_BUILD: pool.host.label}
            for label in own.items():
                self._having.setdefault(label, set()).add(pool.name)
        for pools, keys in self.by_label.items():
            for key in keys:
                self._having.setdefault((key, "true"), set()).update(pools.members)


def _override(placement: Placement, given: Labels, index: _Index) -> tuple[Labels, Finding | None]:
    name = placement.runtime_class.name
    path = ("runtime_classes", name, "node_selector")
    for key, value in ALWAYS.items():
        if given.get(key, value) != value:
            message = f"{key}={given[key]} selects no Windows node of this fleet"
            finding = Finding(
                SELECTS_NO_WINDOWS, Severity.ERROR, (*path, key), message, f"expected {value}, or leave it out"
            )
            return given, finding
    labels = {key: given[key] for key in sorted(given) if key not in ALWAYS}
    selected = index.selected(labels)
    members = placement.pools.members
    if selected == members:
        return labels, None
    parts = []
    if others := selected - members:
        parts.append(f"it also selects {_some(others)}, outside the class")
    if missed := members - selected:
        parts.append(f"it does not select {_some(missed)}")
    absent = [key for key in labels if index.without(key)]
    hint = f"no pool registers a label {absent[0]}" if absent else " and ".join(parts)
    message = f"the node_selector of class {name} does not select exactly its pools"
    fix = "leave node_selector out (one that fits is derived), or give the pools a label that tells them apart"
    if selected >= members and not absent:
        message = f"the node_selector of class {name} cannot tell {_some(members)} from {_some(others)}"
    return labels, Finding(SELECTS_OTHERS, Severity.ERROR, path, message, hint, fix)


def _no_class_label(name: str, problem: str) -> Finding:
    message = f"class {name} needs a label of its own, and its name is too long for one"
    fix = "shorten the name, or give its pools a common label (labels) and select by it (node_selector)"
    return Finding(NO_CLASS_LABEL, Severity.ERROR, ("runtime_classes", name), message, problem, fix)


def _some(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = f" and {len(ordered) - _FEW} more" if len(ordered) > _FEW else ""
    return f"pool{'s' * (len(ordered) > 1)} {', '.join(ordered[:_FEW])}{more}"
