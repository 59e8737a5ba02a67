"""The plan for people: pools, classes, where each class schedules, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from lockstep.catalog.builds import resolve
from lockstep.fleet.own_labels import POOL
from lockstep.fleet.plan import ClassPlan, Plan, PoolPlan
from lockstep.k8s.labels import WINDOWS_BUILD
from lockstep.report.table import table

PREFIX = "runhcs-wcow-"
MANY = 4
LABELS = {WINDOWS_BUILD: "build", POOL: "pool"}

USUAL_PAUSE = "registry.k8s.io/pause"

SAME_BUILD = (
    "Hyper-V at the host's own build: on upstream containerd a handler cannot choose another guest, "
    "whatever it is called."
)
IN_RANGE = (
    "The utility VM is of the host's own build; containers of this older build run in it, because the host's build "
    "takes their images."
)
PINNED = (
    "Every utility VM of the pool boots this build, from the pool's pinned pause image. Name workload images by a "
    "single-platform digest or tag: containerd picks from a multi-platform one by the host's build."
)

T = TypeVar("T")


def show(plan: Plan, hosts: Mapping[str, Sequence[str]], width: int) -> str:
    """Return the plan as text; `hosts` has the inventory's hosts by pool name, and is empty for a bare file."""
    pools = list(plan.pools.values())
    notes: list[str] = []
    parts = [_headline(pools), _fitting(_pool_columns(pools, hosts, notes), pools, width)]
    if plan.classes:
        parts.append(_fitting(_class_columns(plan, notes), list(plan.classes.values()), width))
    parts += [_notes(notes, width), _legend(plan)]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _fitting(columns: Mapping[str, Callable[[T], str]], items: Sequence[T], width: int) -> list[str]:
    return table(list(columns), [[value(item) for value in columns.values()] for item in items], width)


def _headline(pools: Sequence[PoolPlan]) -> list[str]:
    """Name what is the same on every node once, so that the tables hold only what differs."""
    said = [f"Kubernetes {pools[0].kubelet.version}"] if _same(pools, _kubernetes) else []
    said += [f"containerd {pools[0].containerd.version}"] if _same(pools, _containerd) else []
    said += [f"taint {_taint(pools[0])}"] if _same(pools, _taint) else []
    return [", ".join(said)] if said else []


def _pool_columns(
    pools: Sequence[PoolPlan], hosts: Mapping[str, Sequence[str]], notes: list[str]
) -> dict[str, Callable[[PoolPlan], str]]:
    columns: dict[str, Callable[[PoolPlan], str]] = {
        "Pool": lambda pool: pool.name,
        "nodes": lambda pool: str(len(hosts[pool.name])) if pool.name in hosts else "-",
        "host": lambda pool: resolve(pool.host).alias,
        "guest": lambda pool: "-" if pool.guest == pool.host else resolve(pool.guest).alias,
        "kubelet": _kubernetes,
        "containerd": _containerd,
        "pause": lambda pool: _pause(pool, notes),
        "handlers": lambda pool: ", ".join(_short(handler.name) for handler in pool.containerd.handlers),
        "taint": _taint,
    }
    told = [name for name, value in TOLD_ONCE.items() if _same(pools, value)]
    told += [] if hosts else ["nodes"]
    told += ["guest"] if all(pool.guest == pool.host for pool in pools) else []
    return {name: value for name, value in columns.items() if name not in told}


def _pause(pool: PoolPlan, notes: list[str]) -> str:
    """Show the tag alone where it is a version of the usual image; any other reference is told in a note."""
    image = pool.containerd.pause_image
    name, _, tag = image.rpartition(":")
    if name == USUAL_PAUSE and len(tag) <= len("3.10.2"):
        return tag
    return _noted(f"The pause image of these pools is {image}.", notes)


def _class_columns(plan: Plan, notes: list[str]) -> dict[str, Callable[[ClassPlan], str]]:
    return {
        "Class": lambda item: item.name,
        "handler": lambda item: _short(item.handler),
        "schedules on": lambda item: _some(item.pools),
        "guest": lambda item: " ".join([resolve(item.guest).alias, *_guest_note(item, plan, notes)]),
        "selected by": lambda item: ", ".join(f"{_short_label(key)}={value}" for key, value in item.reached_by.items()),
    }


def _guest_note(item: ClassPlan, plan: Plan, notes: list[str]) -> list[str]:
    if item.isolation != "hyperv":
        return []
    pools = [plan.pools[name] for name in item.pools]
    if any(pool.guest != pool.host for pool in pools):
        return [_noted(PINNED, notes)]
    return [_noted(SAME_BUILD if all(pool.host == item.guest for pool in pools) else IN_RANGE, notes)]


def _noted(text: str, notes: list[str]) -> str:
    """Return the mark of a note, which is added where it is new."""
    if text not in notes:
        notes.append(text)
    return f"({notes.index(text) + 1})"


def _notes(notes: Sequence[str], width: int) -> list[str]:
    return [line for number, text in enumerate(notes, 1) for line in table([f"({number})", text], [], width)]


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


# Columns that go into the headline where they are the same on every node.
TOLD_ONCE: Mapping[str, Callable[[PoolPlan], str]] = {
    "kubelet": _kubernetes,
    "containerd": _containerd,
    "taint": _taint,
}
