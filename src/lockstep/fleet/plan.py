"""The plan: the derived desired state of every pool and class, as frozen plain data.

Nodes and manifests are both made from this and from nothing else, so a handler name, taint or label is written in
one place only. `to_data` gives the same plan as dicts and lists, for Ansible, JSON and templates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from lockstep.fleet.model import Isolation
from lockstep.k8s.taints import Taint, Toleration

OptionValue = bool | int | str


@dataclass(frozen=True, slots=True)
class Handler:
    """One containerd runtime section, stated in full.

    `options` has the shim's own spelling (`SandboxIsolation`) and types. `sandboxer` is None where the containerd
    series has no such key.
    """

    name: str
    isolation: Isolation
    runtime_type: str
    pod_annotations: tuple[str, ...]
    container_annotations: tuple[str, ...]
    options: Mapping[str, OptionValue]
    sandboxer: str | None


@dataclass(frozen=True, slots=True)
class ContainerdPlan:
    """What containerd on a pool's nodes must have."""

    version: str
    pause_image: str
    default_handler: str
    handlers: tuple[Handler, ...]


@dataclass(frozen=True, slots=True)
class KubeletPlan:
    """What kubelet on a pool's nodes must have: KubeletConfiguration fields, and what exists as a flag only."""

    version: str
    configuration: Mapping[str, Any]
    node_labels: Mapping[str, str]
    taints: tuple[Taint, ...]


@dataclass(frozen=True, slots=True)
class WindowsPlan:
    """What Windows on a pool's nodes must have.

    `features` as Get-WindowsFeature names them. `hyperv`: a class with Hyper-V isolation runs there. `memory_mb` and
    `processors` are what a node needs at least for one utility VM of the largest class, 0 where there is none.
    """

    features: tuple[str, ...]
    hyperv: bool
    memory_mb: int
    processors: int


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """The desired state of every node of one pool. `host` and `guest` are `10.0.<build>`."""

    name: str
    group: str
    host: str
    guest: str
    windows: WindowsPlan
    containerd: ContainerdPlan
    kubelet: KubeletPlan


@dataclass(frozen=True, slots=True)
class ClassPlan:
    """One RuntimeClass, derived. `pools` are exactly the pools whose nodes `node_selector` selects.

    `guest` is `10.0.<build>`. `reached_by` is the part of `node_selector` that tells these pools from others,
    beyond OS and architecture.
    """

    name: str
    isolation: Isolation
    guest: str
    handler: str
    pools: tuple[str, ...]
    node_selector: Mapping[str, str]
    reached_by: Mapping[str, str]
    tolerations: tuple[Toleration, ...]
    overhead: Mapping[str, str]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """Every pool and class of a fleet, in the order of the description."""

    pools: Mapping[str, PoolPlan]
    classes: Mapping[str, ClassPlan]


def to_data(plan: Plan) -> dict[str, Any]:
    """Return the plan as dicts and lists that JSON can hold, with the fields' own names in their own order."""
    return {
        "pools": {name: pool_to_data(pool) for name, pool in plan.pools.items()},
        "classes": {name: class_to_data(item) for name, item in plan.classes.items()},
    }


def pool_to_data(pool: PoolPlan) -> dict[str, Any]:
    """Return a pool's plan as dicts and lists; taints have the form that kubelet and the Node object use."""
    data: dict[str, Any] = _plain(pool)
    return data


def class_to_data(item: ClassPlan) -> dict[str, Any]:
    """Return a class's plan as dicts and lists; tolerations have the form that a RuntimeClass uses."""
    data: dict[str, Any] = _plain(item)
    return data


def toleration_to_data(toleration: Toleration) -> dict[str, str]:
    """Return a toleration as the API writes it: what is empty is left out."""
    return {name: text for name, text in _fields(toleration) if text}


def taint_to_data(taint: Taint) -> dict[str, str]:
    """Return a taint as the API writes it: an empty value is left out."""
    return {name: text for name, text in _fields(taint) if text}


def _plain(value: Any) -> Any:
    if isinstance(value, Taint):
        return taint_to_data(value)
    if isinstance(value, Toleration):
        return toleration_to_data(value)
    if is_dataclass(value):
        return {name: _plain(part) for name, part in _fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


def _fields(value: Any) -> list[tuple[str, Any]]:
    return [(each.name, getattr(value, each.name)) for each in fields(value)]
