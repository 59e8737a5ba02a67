"""Filters that turn `lockstep_fleet` into plans."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from ansible.errors import AnsibleFilterError

try:
    from lockstep.ansible.fleet import FleetError, fleet_plan, pool_plan
except ImportError:
    INSTALLED = False
else:
    INSTALLED = True


def lockstep_plan(fleet: Any) -> dict[str, Any]:
    """Return the plan of a fleet as data: `pools` and `classes` by name."""
    return _planned(lambda: fleet_plan(fleet))


def lockstep_pool(fleet: Any, groups: Iterable[str]) -> dict[str, Any]:
    """Return the plan of the pool that a host in these inventory groups (`group_names`) belongs to."""
    return _planned(lambda: pool_plan(fleet, groups))


def _planned(plan: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    if not INSTALLED:
        raise AnsibleFilterError(
            "the filters need lockstep in the Python that runs Ansible: "
            f"{sys.executable} -m pip install lockstep-windows"
        )
    try:
        return plan()
    except (FleetError, TypeError) as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """What Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {"lockstep_plan": lockstep_plan, "lockstep_pool": lockstep_pool}
