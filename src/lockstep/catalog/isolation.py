"""What each isolation asks of a node: Windows features, memory, processors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lockstep.catalog.data import load


@dataclass(frozen=True, slots=True)
class HypervNeeds:
    """What Hyper-V isolation asks of a node beside its utility VMs, and what the shim gives such a VM by default."""

    features: tuple[str, ...]
    memory_mb: int
    processors: int
    vm_memory_mb: int
    vm_processors: int


@cache
def container_features() -> tuple[str, ...]:
    """Return the features that every node with containers has, as Get-WindowsFeature names them."""
    return tuple(load("windows-builds")["process_isolation"]["features"])


@cache
def hyperv_needs() -> HypervNeeds:
    """Return what Hyper-V isolation asks of a node."""
    facts = load("windows-builds")["hyperv_isolation"]
    node, machine = facts["node"], facts["utility_vm"]
    return HypervNeeds(
        tuple(facts["features"]), node["memory_mb"], node["processors"], machine["memory_mb"], machine["processors"]
    )
