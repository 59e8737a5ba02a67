"""The proof: from manifests and nodes alone, where each class's pods land, and whether they can run there.

The plan says what should be; manifests, Node objects and effective handlers say what is. Nothing observed is
computed from the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.catalog.builds import UnknownBuild, resolve
from lockstep.catalog.compatibility import can_run
from lockstep.fleet.plan import ClassPlan, Handler, Plan, PoolPlan
from lockstep.k8s.labels import WINDOWS_BUILD
from lockstep.verify.observed import Manifest, Node

Effective = Mapping[str, Mapping[str, Any]]
"""Handlers in effect on one node: the handler's table in `containerd config dump`, by name."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many of how many."""

    met: int
    all: int

    def __str__(self) -> str:
        return f"{self.met} of {self.all}"


@dataclass(frozen=True, slots=True)
class Row:
    """One class on one node. A class that rightly leaves the node alone has `selected` False and no problems."""

    class_name: str
    node: str
    selected: bool
    handler_there: bool
    options: Count | None
    taints: Count | None
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The whole proof; `problems` are those that belong to no single row."""

    rows: tuple[Row, ...]
    problems: tuple[str, ...]
    nodes: int
    classes: int

    @property
    def agrees(self) -> bool:
        """Return whether description, nodes and manifests agree."""
        return not self.problems and not any(row.problems for row in self.rows)


def prove(
    plan: Plan,
    pool_of: Mapping[str, str],
    manifests: Sequence[Manifest],
    nodes: Sequence[Node],
    effective: Mapping[str, Effective],
    *,
    pause_images: Mapping[str, str | None] | None = None,
) -> Agreement:
    """Return what every manifest does on every node.

    `pool_of` names the pool of each node that the description covers, `effective` the handlers in effect by node name,
    `pause_images` the pause image in effect, None where that was not said.
    """
    by_name = {manifest.name: manifest for manifest in manifests}
    seen = {node.name for node in nodes}
    problems = [f"class {name} is described but has no manifest" for name in plan.classes if name not in by_name]
    problems += [f"class {name} has a manifest but is not described" for name in by_name if name not in plan.classes]
    problems += [f"node {name} of pool {pool} is not registered" for name, pool in pool_of.items() if name not in seen]
    problems += _other_pause_images(plan, pool_of, pause_images or {})
    rows: list[Row] = []
    for name, item in plan.classes.items():
        if name not in by_name:
            continue
        mine = [
            _row(plan, item, by_name[name], node, pool=pool_of.get(node.name), effective=effective.get(node.name))
            for node in nodes
        ]
        if not any(row.selected for row in mine):
            problems.append(f"class {name} selects no node, so its pods stay Pending")
        rows += mine
    return Agreement(tuple(rows), tuple(problems), nodes=len(nodes), classes=len(plan.classes))


def _other_pause_images(plan: Plan, pool_of: Mapping[str, str], found: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the nodes whose pause image is another: it decides which build a utility VM boots, and whether pods start.

    Source: microsoft/hcsshim internal/uvm (the utility VM is of the pause image's layers).
    """
    for name, image in found.items():
        pool = plan.pools.get(pool_of.get(name, ""))
        if pool and image is not None and image != pool.containerd.pause_image:
            yield f"node {name} of pool {pool.name} has pause image {image} instead of {pool.containerd.pause_image}"


def _row(
    plan: Plan, item: ClassPlan, manifest: Manifest, node: Node, *, pool: str | None, effective: Effective | None
) -> Row:
    selected, intended = manifest.selects(node), pool in item.pools
    if not selected:
        missed = (f"is in pool {pool}, but the nodeSelector passes it by",) if intended else ()
        return Row(
            item.name, node.name, selected=False, handler_there=False, options=None, taints=None, problems=missed
        )
    problems = [] if intended else [f"is selected, but belongs to {f'pool {pool}' if pool else 'no pool'}"]
    tables = effective or {}
    there = manifest.handler in tables and (node.handlers is None or manifest.handler in node.handlers)
    if effective is None:
        problems.append("its effective containerd configuration was not read")
    elif not there:
        problems.append(f'has no handler: no runtime for "{manifest.handler}" is configured')
    options = None
    planned = plan.pools.get(pool) if pool else None
    if planned and (handler := _planned(planned.containerd.handlers, item.handler)):
        wrong = _wrong_options(handler, tables.get(manifest.handler, {}))
        options = Count(_size(handler) - len(wrong), _size(handler))
        problems += [f"handler {manifest.handler}: {text}" for text in wrong if there]
    binding = [taint for taint in node.taints if taint.effect != "PreferNoSchedule"]
    refused = [taint for taint in binding if not any(entry.tolerates(taint) for entry in manifest.tolerations)]
    problems += [f"taint {taint} is not tolerated" for taint in refused]
    if planned:
        problems += _cannot_run(planned, item, node)
    return Row(
        class_name=item.name,
        node=node.name,
        selected=True,
        handler_there=there,
        options=options,
        taints=Count(len(binding) - len(refused), len(binding)),
        problems=tuple(problems),
    )


def _planned(handlers: Iterable[Handler], name: str) -> Handler | None:
    return next((handler for handler in handlers if handler.name == name), None)


def _size(handler: Handler) -> int:
    return 1 + len(handler.options)


def _wrong_options(handler: Handler, table: Mapping[str, Any]) -> list[str]:
    """Say which of the planned values are not in effect: runtime_type and every shim option."""
    have = table.get("options") or {}
    wrong = [] if table.get("runtime_type") == handler.runtime_type else [f"runtime_type is not {handler.runtime_type}"]
    for key, value in handler.options.items():
        # True == 1 in Python, and a TOML boolean where the shim wants an integer fails at pod creation.
        if key not in have or type(have[key]) is not type(value) or have[key] != value:
            wrong.append(f"option {key} is {have.get(key, 'missing')!r} instead of {value!r}")
    return wrong


def _cannot_run(planned: PoolPlan, item: ClassPlan, node: Node) -> list[str]:
    """Judge by the build that the node itself reports, not by the one it was described with."""
    label = node.labels.get(WINDOWS_BUILD, "")
    try:
        host, guest = resolve(label), resolve(item.guest)
    except UnknownBuild:
        return [f"reports no Windows build ({WINDOWS_BUILD} is {label!r})"]
    own = None if planned.guest == planned.host else resolve(planned.guest)
    verdict = can_run(host, guest, item.isolation, planned.containerd.version, pool_guest=own)
    return [] if verdict.ok else [verdict.reason]
