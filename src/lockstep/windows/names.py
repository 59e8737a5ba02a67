"""The node's name, which its Node object gets too."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.k8s.names import dns_subdomain_problem
from lockstep.node.operations import Result
from lockstep.windows.problem import Problem

_NETBIOS = 15
"""Source: Microsoft Learn, "Naming conventions in Active Directory" (NetBIOS computer names)."""


def node_name(system: Result, override: str = "") -> str:
    """Return the name that kubelet gives its Node; `override` is what it is told to, empty for nothing.

    Source: kubernetes/kubernetes pkg/util/node, GetHostname: the override, or the host's name, in lower case.
    """
    name: str = override or system.get("host_name") or system["computer_name"]
    return name.strip().lower()


def name_problems(system: Result, other: str | None, override: str = "") -> Iterator[Problem]:
    """Yield what is wrong with the node's name; `other` is another host of this run that has it too, or None."""
    name = node_name(system, override)
    if problem := dns_subdomain_problem(name):
        what = "kubelet is told a name that cannot be a Node's" if override else "the host's name cannot be a Node's"
        yield Problem("name", f"{what}: {problem}", _CORRECT if override else _RENAME)
    elif not override and len(name.partition(".")[0]) > _NETBIOS:
        text = (
            f"the host's name {name} is longer than {_NETBIOS} characters: NetBIOS calls it {system['computer_name']}"
        )
        yield Problem("name", text, "see that no other host's name begins alike, or take a shorter one", refuses=False)
    if other is not None:
        text = f"host {other} of this run has the name {name} too: both would be one Node"
        yield Problem(
            "name", text, f"{_CORRECT if override else _RENAME}; or is it one machine, twice in the inventory?"
        )


_RENAME = "on the node: Rename-Computer -NewName <name> -Restart; or set kubelet_hostname_override for the host"
_CORRECT = "correct kubelet_hostname_override of the host"
