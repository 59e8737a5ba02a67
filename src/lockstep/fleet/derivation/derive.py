"""From the description to the plan: what every node and every RuntimeClass must be, or why that cannot be.

A pure function of data. Every finding comes at once; with an error among them there is no plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lockstep.finding import Finding, Severity
from lockstep.fleet.derivation.classes import Placement, PoolSet, place
from lockstep.fleet.derivation.handlers import HANDLERS, handler_name, handlers_by_pool
from lockstep.fleet.derivation.kubelet import kubelet_plan
from lockstep.fleet.derivation.pools import Site, survey
from lockstep.fleet.derivation.releases import unseen_handlers
from lockstep.fleet.derivation.selectors import ALWAYS, Labels, select
from lockstep.fleet.derivation.support import support_findings
from lockstep.fleet.derivation.windows import windows_plans
from lockstep.fleet.model import Fleet
from lockstep.fleet.plan import ClassPlan, ContainerdPlan, Handler, KubeletPlan, Plan, PoolPlan, WindowsPlan
from lockstep.k8s.quantities import canonical
from lockstep.k8s.taints import Toleration


@dataclass(frozen=True, slots=True)
class Derivation:
    """The plan, None where a finding is an error; and the findings, whose places are still to be located."""

    plan: Plan | None
    findings: tuple[Finding, ...]


def derive(fleet: Fleet) -> Derivation:
    """Return the plan of a fleet whose names, labels and quantities are valid, as the loader returns it.

    The plan has the description's order; the findings are the same in whatever order it is written.
    """
    by_name = replace(
        fleet, pools=dict(sorted(fleet.pools.items())), runtime_classes=dict(sorted(fleet.runtime_classes.items()))
    )
    sites, findings = survey(by_name)
    findings += support_findings(by_name)
    placements, wrong = place(by_name, sites)
    findings += wrong
    handlers, wrong = handlers_by_pool(placements, sites)
    findings += wrong
    findings += unseen_handlers(by_name, {name for name, some in handlers.items() if len(some) > 1})
    selection = select({name: site.pool for name, site in sites.items()}, placements)
    findings += selection.findings
    kubelets: dict[str, KubeletPlan] = {}
    for name, site in sites.items():
        kubelets[name], wrong = kubelet_plan(site, selection.class_labels.get(name, {}))
        findings += wrong
    if any(finding.severity is Severity.ERROR for finding in findings):
        return Derivation(None, tuple(findings))
    windows = windows_plans(placements, sites)
    plan = Plan(
        pools={name: _pool_plan(sites[name], windows[name], handlers[name], kubelets[name]) for name in fleet.pools},
        classes=_class_plans(fleet, placements, selection.reached_by),
    )
    return Derivation(plan, tuple(findings))


def _pool_plan(site: Site, windows: WindowsPlan, handlers: tuple[Handler, ...], kubelet: KubeletPlan) -> PoolPlan:
    return PoolPlan(
        name=site.pool.name,
        group=site.pool.group,
        host=site.pool.host.label,
        guest=site.pool.effective_guest.label,
        windows=windows,
        containerd=ContainerdPlan(
            version=site.pool.containerd,
            pause_image=site.pause_image,
            default_handler=HANDLERS["process"],
            handlers=handlers,
        ),
        kubelet=kubelet,
    )


def _class_plans(fleet: Fleet, placements: list[Placement], reached_by: Mapping[str, Labels]) -> dict[str, ClassPlan]:
    order = {name: index for index, name in enumerate(fleet.pools)}
    described: dict[PoolSet, tuple[str, ...]] = {}
    placed = {placement.runtime_class.name: placement for placement in placements}
    for pools in {placement.pools for placement in placements}:
        described[pools] = tuple(sorted(pools.names, key=order.__getitem__))
    return {
        name: _class_plan(placed[name], described[placed[name].pools], reached_by[name])
        for name in fleet.runtime_classes
    }


def _class_plan(placement: Placement, pools: tuple[str, ...], reached_by: Labels) -> ClassPlan:
    item = placement.runtime_class
    tolerations = dict.fromkeys([*map(Toleration.of, placement.pools.taints), *item.tolerations])
    return ClassPlan(
        name=item.name,
        isolation=item.isolation,
        guest=placement.guest.label,
        handler=handler_name(item),
        pools=pools,
        node_selector={**ALWAYS, **reached_by},
        reached_by=reached_by,
        tolerations=tuple(tolerations),
        overhead={resource: canonical(item.overhead[resource]) for resource in sorted(item.overhead)},
        labels=item.labels,
        annotations=item.annotations,
    )
