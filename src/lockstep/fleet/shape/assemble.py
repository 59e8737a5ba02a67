"""Validated data to the model: defaults filled in, references between its parts checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lockstep.finding import DataPath, Finding, Severity
from lockstep.fleet.model import Fleet, KubeletFields, Pool, RuntimeClass, UtilityVM
from lockstep.fleet.shape import refusal
from lockstep.fleet.shape.refusal import INVALID, Partial
from lockstep.fleet.shape.spec import FLEET
from lockstep.fleet.shape.validate import validate
from lockstep.fleet.text.locate import Locator
from lockstep.k8s.taints import Taint, Toleration
from lockstep.words import nearest

DEFAULT_TAINT = Taint("os", "windows", "NoSchedule")
"""Source: Kubernetes documentation, "Guide for Running Windows Containers in Kubernetes"."""

_COMPARISONS = 20_000
"""How many names are compared at most to suggest pools, so that a large fleet with many errors is told in time."""
_OWN = 2
"""Length of the path of one pool or class."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """The fleet that a description holds, and what is wrong with it.

    Where there are findings the fleet holds only what they leave certain: pools and classes that are wrong are missing,
    and so are the classes that depend on such a pool. It is None where nothing is left. `kubelet` has the fields of
    every pool in which they are right, whatever else is wrong there.
    """

    fleet: Fleet | None
    findings: list[Finding]
    kubelet: Mapping[str, KubeletFields] = field(default_factory=dict)


def assemble(data: Any, locator: Locator, doubtful: Collection[DataPath] = ()) -> Assembled:
    """Return what the data describes; `doubtful` are paths that are known to be wrong already."""
    read, findings = validate(data, FLEET, locator)
    if read is INVALID or "pools" not in read or any(len(path) < _OWN for path in doubtful):
        return Assembled(None, findings)
    described = data["pools"]
    wrong = {path[:_OWN] for path in doubtful}
    usable = {
        name: entry
        for name, entry in read["pools"].items()
        if not isinstance(entry, Partial) and _settled(entry, data, read) and ("pools", name) not in wrong
    }
    pools = {name: _pool(name, entry, read) for name, entry in usable.items()}
    classes = {name: _class(name, entry) for name, entry in read.get("runtime_classes", {}).items()}
    unknown = list(_unknown_pools(classes.values(), described.keys() | read["pools"].keys(), locator))
    findings += [*unknown, *_shared_groups(pools.values(), locator)]
    certain = len(pools) == len(described)
    kept = {
        name: entry
        for name, entry in classes.items()
        if (certain if entry.pools is None else all(pool in pools for pool in entry.pools))
        and ("runtime_classes", name) not in wrong
    }
    fleet = Fleet(pools, kept, read.get("kubernetes"), read.get("containerd"))
    return Assembled(fleet, findings, dict(_kubelet_fields(read)))


def _kubelet_fields(fleet: Mapping[str, Any]) -> Iterator[tuple[str, KubeletFields]]:
    for name, pool in fleet["pools"].items():
        version = pool.get("kubernetes", fleet.get("kubernetes"))
        if version and pool.get("kubelet"):
            yield name, KubeletFields(version, pool["kubelet"])


def _settled(pool: Mapping[str, Any], described: Mapping[str, Any], fleet: Mapping[str, Any]) -> bool:
    """Return whether everything that a pool takes over from the fleet is right there."""
    versions = all(key in pool or key in fleet for key in ("kubernetes", "containerd"))
    return versions and ("taint" in pool or "taint" in fleet or "taint" not in described)


def _unknown_pools(classes: Iterable[RuntimeClass], known: set[Any], locator: Locator) -> Iterator[Finding]:
    left = _COMPARISONS
    expected = ""
    names = sorted(map(str, known))
    for described in classes:
        for index, name in enumerate(described.pools or ()):
            if name in known:
                continue
            near = nearest(name, names) if left > 0 else None
            left -= len(known)
            expected = expected or f"expected one of {_listed(known)}"
            path: DataPath = ("runtime_classes", described.name, "pools", index)
            yield Finding(
                refusal.UNKNOWN_POOL,
                Severity.ERROR,
                path,
                f"there is no pool '{name}'",
                f"did you mean '{near}'?" if near else expected,
                place=locator.value(path),
            )


def _listed(names: Iterable[Any], most: int = 5) -> str:
    ordered = sorted(map(str, names))
    return ", ".join(ordered[:most]) + (f" and {len(ordered) - most} more" if len(ordered) > most else "")


def _shared_groups(pools: Iterable[Pool], locator: Locator) -> Iterator[Finding]:
    """Refuse two pools that are one inventory group: its nodes cannot be configured both ways."""
    first: dict[str, str] = {}
    for pool in sorted(pools, key=lambda pool: pool.name):
        other = first.setdefault(pool.group, pool.name)
        if other != pool.name:
            path: DataPath = ("pools", pool.name, "group")
            yield Finding(
                refusal.SHARED_GROUP,
                Severity.ERROR,
                path,
                f"the inventory group '{pool.group}' already holds the nodes of pool '{other}'",
                "expected a group of its own for each pool",
                place=locator.value(path),
            )


def _pool(name: str, read: Mapping[str, Any], fleet: Mapping[str, Any]) -> Pool:
    return Pool(
        name=name,
        group=read.get("group", name),
        host=read["host"],
        guest=read.get("guest"),
        kubernetes=read.get("kubernetes") or fleet["kubernetes"],
        containerd=read.get("containerd") or fleet["containerd"],
        taint=_taint(read["taint"])
        if "taint" in read
        else _taint(fleet["taint"])
        if "taint" in fleet
        else DEFAULT_TAINT,
        pause_image=read.get("pause_image"),
        labels=read.get("labels", {}),
        kubelet=read.get("kubelet", {}),
    )


def _taint(read: Mapping[str, Any] | str) -> Taint | None:
    if isinstance(read, str):
        return None
    return Taint(read["key"], read.get("value", ""), read["effect"])


def _class(name: str, read: Mapping[str, Any]) -> RuntimeClass:
    pools, size = read.get("pools"), read.get("vm")
    return RuntimeClass(
        name=name,
        isolation=read["isolation"],
        guest=read.get("guest"),
        pools=None if pools is None else tuple(pools),
        handler=read.get("handler"),
        vm=None if size is None else UtilityVM(size.get("memory"), size.get("processors")),
        overhead=read.get("overhead", {}),
        node_selector=read.get("node_selector"),
        tolerations=tuple(_toleration(item) for item in read.get("tolerations", ())),
        labels=read.get("labels", {}),
        annotations=read.get("annotations", {}),
    )


def _toleration(read: Mapping[str, Any]) -> Toleration:
    return Toleration(read.get("key", ""), read.get("operator", "Equal"), read.get("value", ""), read.get("effect", ""))
