"""Handlers: each class's name for one, and for each pool every handler that its classes need, stated in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from lockstep.catalog.builds import Build, UnknownBuild, resolve
from lockstep.catalog.containerd import Series, linux_handlers
from lockstep.finding import Finding, Severity
from lockstep.fleet.derivation.classes import Placement, PoolSet
from lockstep.fleet.derivation.pools import Site
from lockstep.fleet.model import Isolation, RuntimeClass, UtilityVM
from lockstep.fleet.plan import Handler, OptionValue

PROMISES_GUEST = "LW221"
OPTIONS_CONFLICT = "LW222"
ODD_MEMORY = "LW223"
VM_WITHOUT_HYPERV = "LW225"
LINUX_HANDLER = "LW226"

HANDLERS: Mapping[Isolation, str] = {"process": "runhcs-wcow-process", "hyperv": "runhcs-wcow-hypervisor"}
"""containerd's own names, which KEP-1001 names too."""

_NO_VM = UtilityVM()


@dataclass(frozen=True, slots=True)
class Need:
    """What classes need a handler of one name to be."""

    name: str
    isolation: Isolation
    vm: UtilityVM


_DEFAULT = Need(HANDLERS["process"], "process", _NO_VM)


def handler_name(item: RuntimeClass) -> str:
    """Return the handler that the class names, or the one of its isolation."""
    return item.handler or HANDLERS[item.isolation]


def handlers_by_pool(
    placements: Iterable[Placement], sites: Mapping[str, Site]
) -> tuple[dict[str, tuple[Handler, ...]], list[Finding]]:
    """Return each pool's handlers by pool name, the default one first, then by name; and what is wrong with any."""
    findings: list[Finding] = []
    wanted: dict[PoolSet, dict[Need, list[RuntimeClass]]] = {}
    for placement in placements:
        findings += _class_findings(placement)
        needs = wanted.setdefault(placement.pools, {})
        needs.setdefault(need_of(placement.runtime_class), []).append(placement.runtime_class)
    sets_of: dict[str, list[PoolSet]] = {name: [] for name in sites}
    for pools in wanted:
        for name in pools.names:
            sets_of[name].append(pools)
    joint = _Joint(wanted)
    handlers = {name: joint.handlers(sets, sites[name]) for name, sets in sets_of.items()}
    return handlers, findings + list(joint.conflicts.values())


def need_of(item: RuntimeClass) -> Need:
    """Return what the class needs of its handler; the shim makes memory even, so that is what is planned."""
    vm = item.vm or _NO_VM
    if vm.memory_mb is not None:
        vm = replace(vm, memory_mb=vm.memory_mb + vm.memory_mb % 2)
    return Need(handler_name(item), item.isolation, vm if item.isolation == "hyperv" else _NO_VM)


@dataclass
class _Joint:
    """Joins the needs of all classes on a pool; pools with the same classes and containerd are joined once."""

    wanted: Mapping[PoolSet, Mapping[Need, list[RuntimeClass]]]
    conflicts: dict[str, Finding] = field(default_factory=dict)
    _made: dict[tuple[str, tuple[PoolSet, ...]], tuple[Handler, ...]] = field(default_factory=dict)

    def handlers(self, sets: list[PoolSet], site: Site) -> tuple[Handler, ...]:
        key = (site.pool.containerd, tuple(sets))
        if key not in self._made:
            needs = self._join(sets, site.pool.name)
            self._made[key] = tuple(_handler(need, site.series) for need in needs)
        return self._made[key]

    def _join(self, sets: list[PoolSet], pool: str) -> list[Need]:
        joined: dict[str, tuple[Need, RuntimeClass | None]] = {_DEFAULT.name: (_DEFAULT, None)}
        for pools in sets:
            for need, classes in self.wanted[pools].items():
                first, owner = joined.setdefault(need.name, (need, classes[0]))
                for item in classes if first != need else ():
                    if item.name not in self.conflicts:
                        self.conflicts[item.name] = _conflict(item, need, first, owner, pool)
        return [_DEFAULT, *(joined[name][0] for name in sorted(joined) if name != _DEFAULT.name)]


def _handler(need: Need, series: Series) -> Handler:
    facts = series.planned[need.isolation]
    options: dict[str, OptionValue] = dict(facts.options)
    if need.vm.memory_mb is not None:
        options["VmMemorySizeInMb"] = need.vm.memory_mb
    if need.vm.processors is not None:
        options["VmProcessorCount"] = need.vm.processors
    return Handler(
        name=need.name,
        isolation=need.isolation,
        runtime_type=facts.runtime_type,
        pod_annotations=facts.pod_annotations,
        container_annotations=facts.container_annotations,
        options=dict(sorted(options.items())),
        sandboxer=facts.sandboxer,
    )


def _conflict(item: RuntimeClass, need: Need, first: Need, owner: RuntimeClass | None, pool: str) -> Finding:
    key = ("handler",) if item.handler else ("vm",) if item.vm else ()
    first_owner = f"class {owner.name}" if owner else "the default one that every pool has"
    message = f"class {item.name} needs another handler {need.name} on pool {pool} than {first_owner}"
    hint = f"{_described(need)} here, {_described(first)} there"
    fix = f"give one of them its own handler, such as handler: {_another_name(need)}" if owner else "leave handler out"
    return Finding(OPTIONS_CONFLICT, Severity.ERROR, ("runtime_classes", item.name, *key), message, hint, fix)


def _another_name(need: Need) -> str:
    size = f"{need.vm.memory_mb}m" if need.vm.memory_mb else "own"
    return f"{HANDLERS[need.isolation]}-{size}"


def _described(need: Need) -> str:
    if need.isolation == "process":
        return "process isolation"
    memory = f"{need.vm.memory_mb}Mi" if need.vm.memory_mb else "the shim's memory"
    processors = f"{need.vm.processors} processors" if need.vm.processors else "the shim's processors"
    return f"Hyper-V isolation with {memory} and {processors}"


def _class_findings(placement: Placement) -> Iterator[Finding]:
    item = placement.runtime_class
    path = ("runtime_classes", item.name)
    if item.vm and item.isolation == "process":
        message = f"class {item.name} sizes a utility VM, and process isolation has none"
        yield Finding(
            VM_WITHOUT_HYPERV, Severity.ERROR, (*path, "vm"), message, fix="leave vm out, or use isolation hyperv"
        )
    elif item.vm and item.vm.memory_mb and item.vm.memory_mb % 2:
        message = f"{item.vm.memory_mb}Mi becomes {item.vm.memory_mb + 1}Mi: the shim makes a utility VM's memory even"
        yield Finding(ODD_MEMORY, Severity.WARNING, (*path, "vm", "memory"), message)
    if item.handler in linux_handlers():
        message = f"handler {item.handler} of class {item.name} is one that nodes with Linux have too"
        hint = "policies that tell Windows pods by their class would let Linux pods pass"
        fix = f"leave handler out, or give it a name of its own, such as {HANDLERS[item.isolation]}-own"
        yield Finding(LINUX_HANDLER, Severity.WARNING, (*path, "handler"), message, hint, fix)
    promised = promised_guest(handler_name(item))
    if promised is None:
        return
    for site in placement.pools.kinds:
        if site.pool.effective_guest != promised:
            given = f"pool {site.pool.name} gives {site.pool.effective_guest.product}"
            message = f"handler {item.handler} promises {promised.product}, and {given}"
            hint = "a handler's name selects no build: the pool's host or pinned guest decides"
            fix = f"name it {HANDLERS[item.isolation]}, or use pools with guest {promised.alias}"
            yield Finding(PROMISES_GUEST, Severity.ERROR, (*path, "handler"), message, hint, fix)
            return


def promised_guest(handler: str) -> Build | None:
    """Return the build that a handler's name ends in (`runhcs-wcow-hypervisor-17763`), or None."""
    _, dash, last = handler.rpartition("-")
    try:
        return resolve(last) if dash else None
    except UnknownBuild:
        return None
