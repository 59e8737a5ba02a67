"""Plans for Ansible: from the value of `lockstep_fleet`, as Ansible evaluated it, to the plan as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from lockstep.ansible.errors import wrapped
from lockstep.ansible.plain import to_plain
from lockstep.finding import Finding, Severity
from lockstep.fleet.plan import Plan, PoolPlan, pool_to_data, to_data
from lockstep.rules.check import check_data

_ANY_FLEET = {
    "kubernetes": "1.36.1",
    "containerd": "2.3.4",
    "pools": {"nodes": {"host": "ltsc2025"}},
    "runtime_classes": {"windows": {"isolation": "hyperv"}},
}


class FleetError(Exception):
    """A fleet that cannot be, or has no pool for a host: the text says everything that is wrong, and what to do."""


def fleet_plan(fleet: Any) -> dict[str, Any]:
    """Return the plan of a fleet as data: `pools` and `classes` by name. Raises FleetError."""
    return to_data(plan_of(fleet))


def pool_plan(fleet: Any, groups: Iterable[str], host: str = "this host") -> dict[str, Any]:
    """Return the plan of the pool that a host in these inventory groups belongs to, as data.

    Raises FleetError for a fleet that cannot be, and unless the host is in the group of exactly one pool.
    """
    plan = plan_of(fleet)
    pools = _pools_of(plan, groups)
    if len(pools) != 1:
        raise FleetError(_no_single_pool(plan, pools, host))
    return pool_to_data(pools[0])


def problems(fleet: Any, groups: Mapping[str, Iterable[str]], hosts: Iterable[str]) -> str:
    """Return all that keeps these hosts from being provisioned, empty for nothing.

    `groups` holds the hosts of each inventory group, as Ansible's variable of that name does.
    """
    try:
        plan = plan_of(fleet)
    except FleetError as error:
        return str(error)
    members = {name: set(to_plain(inside)) for name, inside in groups.items()}
    lines = []
    for host in to_plain(hosts):
        pools = _pools_of(plan, (name for name, inside in members.items() if host in inside))
        if len(pools) != 1:
            lines.append(wrapped(_no_single_pool(plan, pools, host), indent="  "))
    return "\n".join(lines)


def plan_of(fleet: Any) -> Plan:
    """Return the plan of a fleet; the same content is derived once in a process. Raises FleetError."""
    return _plan(_ByContent(to_plain(fleet)))


def preload() -> None:
    """Load the code and the facts that every derivation needs.

    Ansible forks a process for each task and host: what its parent has loaded, none of them loads again. Of 50 ms that
    the first derivation of a process takes, 5 remain.
    """
    check_data(_ANY_FLEET)


class _ByContent:
    """Plain data as a key: equal where every value is, types included."""

    def __init__(self, data: Any) -> None:
        self.data = data
        self._text = repr(data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByContent) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


@lru_cache(maxsize=8)
def _plan(fleet: _ByContent) -> Plan:
    loaded = check_data(fleet.data)
    if loaded.plan is None:
        raise FleetError(_described(loaded.findings))
    return loaded.plan


def _described(findings: Iterable[Finding]) -> str:
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    lines = [line for finding in errors for line in _lines(finding)]
    return "\n".join(["lockstep_fleet cannot be:", *lines, "run: lockstep check -i <inventory>"])


def _lines(finding: Finding) -> list[str]:
    where = ".".join(map(str, finding.path))
    found = wrapped(f"{where}{': ' if where else ''}{finding.message} ({finding.rule})", start="  ", indent="    ")
    advice = (finding.hint, f"fix: {finding.fix}" if finding.fix else None)
    return [found, *(wrapped(text, start="    ", indent="    ") for text in advice if text)]


def _pools_of(plan: Plan, groups: Iterable[str]) -> list[PoolPlan]:
    names = set(to_plain(list(groups)))
    return [pool for pool in plan.pools.values() if pool.group in names]


def _no_single_pool(plan: Plan, found: list[PoolPlan], host: str) -> str:
    if found:
        names = " and ".join(f"{pool.name} (group {pool.group})" for pool in found)
        return f"{host} is in the groups of {len(found)} pools, {names}: leave it in one of them"
    wanted = ", ".join(dict.fromkeys(pool.group for pool in plan.pools.values()))
    return f"{host} is in no pool: put it into the inventory group of one of the pools ({wanted})"
