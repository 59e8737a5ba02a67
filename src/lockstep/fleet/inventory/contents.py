"""What an inventory says, whoever read it: groups, and the description that each host sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lockstep.finding import DataPath, Finding, Severity
from lockstep.fleet.shape.spec import VARIABLE
from lockstep.fleet.text.description import Description
from lockstep.fleet.text.document import Document
from lockstep.fleet.text.locate import Locator

DIFFERENT_FLEETS = "LW020"
UNSEEN_FLEET = "LW021"
TWO_POOLS = "LW022"
EMPTY_GROUP = "LW023"


@dataclass(frozen=True, slots=True)
class Inventory:
    """Hosts by group, in the inventory's order, and the description that each host sees.

    Hosts that see none are not in `seen`. `idle` is what a host of each group would see, for an inventory without one.
    `findings` say why the inventory cannot be read.
    """

    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seen: Mapping[str, Description] = field(default_factory=dict)
    idle: Mapping[str, Description] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    documents: tuple[Document, ...] = ()


def chosen(inventory: Inventory) -> tuple[Description | None, list[Finding]]:
    """Return the description that hosts see, None where there is none, and a finding where they see different ones."""
    first: Description | None = None
    first_host = ""
    findings = []
    compared: set[int] = set()
    for host, description in inventory.seen.items() or inventory.idle.items():
        if first is None:
            first, first_host = description, host
        elif id(description) not in compared and description is not first and description.data != first.data:
            place, other = description.locator.key(()), first.locator.key(())
            findings.append(
                Finding(
                    DIFFERENT_FLEETS,
                    Severity.ERROR,
                    (),
                    f"'{host}' and '{first_host}' see different values of {VARIABLE}",
                    f"'{first_host}' sees the one in {other.file}:{other.line}" if other else None,
                    "define it once, for a group that holds all Windows nodes",
                    place,
                ),
            )
        compared.add(id(description))
    return first, findings


def check_hosts(
    pools: Mapping[str, str],
    inventory: Inventory,
    locator: Locator,
) -> tuple[Mapping[str, tuple[str, ...]], list[Finding]]:
    """Return the hosts of each pool, and what is wrong with them; `pools` maps a pool's name to its group."""
    hosts = {name: inventory.groups.get(group, ()) for name, group in pools.items()}
    findings = []
    pool_of: dict[str, str] = {}
    for name, members in hosts.items():
        path: DataPath = ("pools", name)
        place = locator.key(path)
        if not members:
            exists = pools[name] in inventory.groups
            problem = "has no hosts" if exists else "is not in the inventory"
            message = f"the group '{pools[name]}' of pool '{name}' {problem}"
            hint = "nothing is configured for this pool"
            findings.append(Finding(EMPTY_GROUP, Severity.WARNING, path, message, hint, place=place))
        for host in members:
            other = pool_of.setdefault(host, name)
            if other != name:
                message = f"'{host}' is in the pools '{other}' and '{name}'"
                fix = "take it out of one of their groups"
                findings.append(
                    Finding(TWO_POOLS, Severity.ERROR, path, message, "a node belongs to one pool", fix, place)
                )
        blind = [host for host in members if host not in inventory.seen] if inventory.seen else []
        if blind:
            more = f" and {len(blind) - 1} more" if len(blind) > 1 else ""
            message = f"'{blind[0]}'{more} of pool '{name}' cannot see {VARIABLE}"
            fix = f"define {VARIABLE} for a group that holds '{pools[name]}' too"
            findings.append(Finding(UNSEEN_FLEET, Severity.ERROR, path, message, None, fix, place))
    return hosts, findings
