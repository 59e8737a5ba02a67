"""Filters that turn `lockstep_fleet` into plans."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError
from jinja2 import pass_context

try:
    from lockstep.ansible.fleet import FleetError, fleet_plan, pool_plan, problems
except ImportError:
    INSTALLED = False
else:
    INSTALLED = True


def lockstep_plan(fleet: Any) -> dict[str, Any]:
    """Return the plan of a fleet as data: `pools` and `classes` by name."""
    planned: dict[str, Any] = _told(lambda: fleet_plan(fleet))
    return planned


@pass_context
def lockstep_pool(variables: Mapping[str, Any], fleet: Any, groups: Iterable[str]) -> dict[str, Any]:
    """Return the plan of the pool that a host in these inventory groups (`group_names`) belongs to."""
    host = str(variables.get("inventory_hostname", "this host"))
    planned: dict[str, Any] = _told(lambda: pool_plan(fleet, groups, host))
    return planned


def lockstep_problems(fleet: Any, groups: Mapping[str, Iterable[str]], hosts: Iterable[str]) -> str:
    """Return what keeps these hosts from being provisioned, as text; empty for nothing."""
    return str(_told(lambda: problems(fleet, groups, hosts)))


def _told(job: Callable[[], Any]) -> Any:
    if not INSTALLED:
        raise AnsibleFilterError(
            "the filters need lockstep in the Python that runs Ansible: "
            f"{sys.executable} -m pip install lockstep-windows"
        )
    try:
        return job()
    except (FleetError, TypeError) as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    """What Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "lockstep_plan": lockstep_plan,
            "lockstep_pool": lockstep_pool,
            "lockstep_problems": lockstep_problems,
        }
