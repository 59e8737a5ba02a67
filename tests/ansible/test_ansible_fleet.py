"""The filters' plans, and what they say where there is none."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from lockstep.ansible.fleet import FleetError, fleet_plan, pool_plan, problems
from lockstep.fleet.load import Loaded, check_data


def test_a_host_gets_the_plan_of_its_group(fleet: dict[str, Any]) -> None:
    plan = pool_plan(fleet, ["all", "windows", "win2025"])
    assert (plan["name"], plan["host"]) == ("win2025", "10.0.26100")
    assert [handler["name"] for handler in plan["containerd"]["handlers"]] == [
        "runhcs-wcow-process",
        "runhcs-wcow-hypervisor",
    ]
    assert plan == fleet_plan(fleet)["pools"]["win2025"]
    json.dumps(plan)


def test_a_pool_may_have_a_group_of_another_name(fleet: dict[str, Any]) -> None:
    described = copy.deepcopy(fleet)
    described["pools"]["win2025"]["group"] = "servers"
    assert pool_plan(described, ["servers"])["name"] == "win2025"
    with pytest.raises(FleetError, match="win2022, servers"):
        pool_plan(described, ["win2025"])


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ([], "w-0 is in no pool: put it into the inventory group of one of the pools (win2022, win2025)"),
        (
            ["win2022", "win2025"],
            "w-0 is in the groups of 2 pools, win2022 (group win2022) and win2025 (group win2025)",
        ),
    ],
)
def test_a_host_of_no_single_pool(fleet: dict[str, Any], groups: list[str], says: str) -> None:
    with pytest.raises(FleetError) as raised:
        pool_plan(fleet, groups, "w-0")
    assert says in str(raised.value)


@pytest.mark.parametrize("described", [None, [], "fleet", 1, {}, {"pools": {}}])
def test_what_is_no_fleet_is_refused(described: Any) -> None:
    with pytest.raises(FleetError, match="lockstep_fleet cannot be"):
        fleet_plan(described)


def test_every_error_is_told_at_once_with_its_place(fleet: dict[str, Any]) -> None:
    described = copy.deepcopy(fleet)
    described["pools"]["win2022"]["host"] = "ltcs2022"
    described["runtime_classes"]["windows-2025"]["isolatoin"] = "process"
    with pytest.raises(FleetError) as raised:
        fleet_plan(described)
    lines = str(raised.value).splitlines()
    assert lines[0] == "lockstep_fleet cannot be:"
    assert lines[-1] == "run: lockstep check -i <inventory>"
    assert max(map(len, lines)) <= 80
    assert "  pools.win2022.host: unknown Windows build 'ltcs2022' (LW104)" in lines
    assert "    did you mean 'ltsc2022' (Windows Server 2022, 10.0.20348)?" in lines
    assert any(line.startswith("  runtime_classes.windows-2025.isolatoin: ") for line in lines)


def test_problems_are_those_of_the_description_or_of_every_host_without_a_pool(fleet: dict[str, Any]) -> None:
    groups = {"all": ["a", "b", "c", "d"], "win2022": ["a", "d"], "win2025": ["b", "d"]}
    assert problems(fleet, groups, ["a", "b"]) == ""
    stray, twice = problems(fleet, groups, ["a", "b", "c", "d"]).split("\nd ")
    assert stray.startswith("c is in no pool: ")
    assert twice.startswith("is in the groups of 2 pools, win2022 (group win2022) and win2025")
    assert problems(None, groups, ["a"]).startswith("lockstep_fleet cannot be:")


def test_equal_looking_values_are_not_one_fleet(fleet: dict[str, Any]) -> None:
    """1 and true are equal to Python, and the key 2022 is the text '2022' to JSON."""
    fleet_plan(fleet | {"taint": "none"})
    for wrong in (fleet | {"pools": {2022: {"host": "ltsc2022"}}}, fleet | {"kubernetes": 1.36}):
        with pytest.raises(FleetError):
            fleet_plan(wrong)


def test_fifty_hosts_derive_once(fleet: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    derived = []

    def counted(data: Any) -> Loaded:
        derived.append(data)
        return check_data(data)

    monkeypatch.setattr("lockstep.ansible.fleet.check_data", counted)
    described = fleet | {"containerd": "2.3.3"}
    for _ in range(50):
        pool_plan(copy.deepcopy(described), ["win2025"])
    assert derived == [described]
