"""The plan for people: pools, classes, where each class schedules, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lockstep.catalog.builds import resolve
from lockstep.fleet.plan import ClassPlan, Plan, PoolPlan
from lockstep.report.table import table

PREFIX = "runhcs-wcow-"
MANY = 4
LABELS = {"node.kubernetes.io/windows-build": "build", "lockstep.windows/pool": "pool"}

NOTES = {
    "host": (
        "Hyper-V at the host's own build: on upstream containerd a handler cannot choose another guest, "
        "whatever it is called."
    ),
    "pool": (
        "Every utility VM of the pool boots this build, from the pool's pinned pause image. Name workload images by a "
        "single-platform digest or tag: containerd picks from a multi-platform one by the host's build."
    ),
}


def show(plan: Plan, hosts: Mapping[str, Sequence[str]], width: int) -> str:
    """Return the plan as text; `hosts` has the inventory's hosts by pool name, and is empty for a bare file."""
    pools = list(plan.pools.values())
    parts = [_headline(pools), table(*_pool_table(pools, hosts), width=width)]
    if plan.classes:
        notes: list[str] = []
        parts.append(table(*_class_table(plan, notes), width=width))
        parts.append([line for number, key in enumerate(notes, 1) for line in _note(number, NOTES[key], width)])
    parts.append(_legend(plan))
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _headline(pools: Sequence[PoolPlan]) -> list[str]:
    """Name what is the same on every node once, so that the tables hold only what differs."""
    said = [f"Kubernetes {pools[0].kubelet.version}"] if _same(pools, _kubernetes) else []
    said += [f"containerd {pools[0].containerd.version}"] if _same(pools, _containerd) else []
    said += [f"taint {_taint(pools[0])}"] if _same(pools, _taint) else []
    return [", ".join(said)] if said else []


def _pool_table(pools: Sequence[PoolPlan], hosts: Mapping[str, Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    columns: dict[str, Callable[[PoolPlan], str]] = {
        "Pool": lambda pool: pool.name,
        "nodes": lambda pool: str(len(hosts[pool.name])) if pool.name in hosts else "-",
        "host": lambda pool: _build(pool.host),
        "guest": lambda pool: "the host's" if pool.guest == pool.host else resolve(pool.guest).alias,
        "Kubernetes": _kubernetes,
        "containerd": _containerd,
        "pause": lambda pool: pool.containerd.pause_image.rpartition(":")[2],
        "handlers": lambda pool: ", ".join(_short(handler.name) for handler in pool.containerd.handlers),
        "taint": _taint,
    }
    if not hosts:
        del columns["nodes"]
    if all(pool.guest == pool.host for pool in pools):
        del columns["guest"]
    for name, value in (("Kubernetes", _kubernetes), ("containerd", _containerd), ("taint", _taint)):
        if _same(pools, value):
            del columns[name]
    return list(columns), [[value(pool) for value in columns.values()] for pool in pools]


def _class_table(plan: Plan, notes: list[str]) -> tuple[list[str], list[list[str]]]:
    rows = [
        [
            item.name,
            _short(item.handler),
            _some(item.pools),
            resolve(item.guest).alias + _mark(item, plan, notes),
            ", ".join(f"{_short_label(key)}={value}" for key, value in item.reached_by.items()),
        ]
        for item in plan.classes.values()
    ]
    return ["Class", "handler", "schedules on", "guest", "selected by"], rows


def _mark(item: ClassPlan, plan: Plan, notes: list[str]) -> str:
    if item.isolation != "hyperv":
        return ""
    key = "host" if all(plan.pools[name].guest == plan.pools[name].host for name in item.pools) else "pool"
    if key not in notes:
        notes.append(key)
    return f" ({notes.index(key) + 1})"


def _note(number: int, text: str, width: int) -> list[str]:
    return table([f"({number})", text], [], width)


def _legend(plan: Plan) -> list[str]:
    """Say what was shortened to fit."""
    names = {handler.name for pool in plan.pools.values() for handler in pool.containerd.handlers}
    labels = {key for item in plan.classes.values() for key in item.reached_by}
    words = {_short(name): name for name in sorted(names) if name.startswith(PREFIX)}
    words |= {_short_label(key): key for key in sorted(labels) if key != _short_label(key)}
    return [f"{word:10} stands for {text}" for word, text in words.items()]


def _short(handler: str) -> str:
    return handler.removeprefix(PREFIX)


def _short_label(key: str) -> str:
    return LABELS.get(key, key)


def _build(label: str) -> str:
    build = resolve(label)
    return f"{build.alias} ({build.number})" if build.alias != str(build.number) else build.alias


def _some(names: Sequence[str]) -> str:
    if len(names) <= MANY:
        return ", ".join(names)
    return f"{', '.join(names[: MANY - 1])} and {len(names) - MANY + 1} more"


def _kubernetes(pool: PoolPlan) -> str:
    return pool.kubelet.version


def _containerd(pool: PoolPlan) -> str:
    return pool.containerd.version


def _taint(pool: PoolPlan) -> str:
    return ", ".join(str(taint) for taint in pool.kubelet.taints) or "none"


def _same(pools: Sequence[PoolPlan], value: Callable[[PoolPlan], str]) -> bool:
    return len({value(pool) for pool in pools}) == 1
