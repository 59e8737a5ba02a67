"""What Windows on a pool's nodes must have, so that the classes which run there can."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lockstep.catalog.isolation import container_features, hyperv_needs
from lockstep.fleet.derivation.classes import Placement
from lockstep.fleet.derivation.pools import Site
from lockstep.fleet.model import RuntimeClass, UtilityVM
from lockstep.fleet.plan import WindowsPlan

_NO_SIZE = UtilityVM()


def windows_plans(placements: Iterable[Placement], sites: Mapping[str, Site]) -> dict[str, WindowsPlan]:
    """Return what each pool's nodes must have, by pool name: Hyper-V only where a class needs it."""
    classes: dict[str, list[RuntimeClass]] = {name: [] for name in sites}
    for placement in placements:
        if placement.runtime_class.isolation == "hyperv":
            for name in placement.pools.names:
                classes[name].append(placement.runtime_class)
    return {name: _plan(inside) for name, inside in classes.items()}


def _plan(classes: list[RuntimeClass]) -> WindowsPlan:
    """Return the plan of a pool with these classes of Hyper-V isolation.

    One utility VM of the largest class has to fit beside Windows; how many more do is for the scheduler.
    """
    if not classes:
        return WindowsPlan(container_features(), hyperv=False, memory_mb=0, processors=0)
    needs = hyperv_needs()
    sizes = [item.vm or _NO_SIZE for item in classes]
    memory = max(size.memory_mb or needs.vm_memory_mb for size in sizes)
    processors = max(size.processors or needs.vm_processors for size in sizes)
    features = dict.fromkeys((*container_features(), *needs.features))
    return WindowsPlan(tuple(features), True, needs.memory_mb + memory, max(needs.processors, processors))
