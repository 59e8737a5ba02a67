"""An inventory's groups and hosts, as Ansible relates them."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from typing import Any

_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?", re.ASCII)
_RANGE = re.compile(r"(.*?)\[([0-9]+|[A-Za-z]):([0-9]+|[A-Za-z])(?::([1-9][0-9]*))?\](.*)", re.ASCII)
_MOST_HOSTS = 100_000


class Uncertain(Exception):  # noqa: N818 - no failure: the inventory is read through Ansible instead
    """What Ansible would see cannot be told for certain without it."""


class Groups:
    """Groups, their children and their hosts; `reconcile` ends the reading."""

    def __init__(self) -> None:
        self._children: dict[str, dict[str, None]] = {"all": {"ungrouped": None}, "ungrouped": {}}
        self._parents: dict[str, dict[str, None]] = {"all": {}, "ungrouped": {"all": None}}
        self._members: dict[str, dict[str, None]] = {"all": {}, "ungrouped": {}}
        self._direct: dict[str, dict[str, None]] = {}
        self._depth: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """Every group's name."""
        return list(self._members)

    @property
    def hosts(self) -> list[str]:
        """Every host's name, in the order of the inventory."""
        return list(self._direct)

    def add(self, name: str) -> None:
        """Add a group, if it is not there yet."""
        if "/" in name:
            raise Uncertain(f"'{name}' is no plain name of a group")
        for relation in (self._children, self._parents, self._members):
            relation.setdefault(name, {})

    def add_child(self, parent: str, child: str) -> None:
        """Make one group the child of another."""
        if child not in self._members or child in ("all", parent):
            raise Uncertain(f"'{child}' cannot be a child of '{parent}'")
        self._children[parent][child] = None
        self._parents[child][parent] = None

    def add_host(self, group: str, host: str) -> None:
        """Make a host a member of a group."""
        self._direct.setdefault(host, {})[group] = None
        self._members[group][host] = None
        if len(self._direct) > _MOST_HOSTS:
            raise Uncertain("too many hosts")

    def expand(self, pattern: Any) -> list[str]:
        """Return the host names that a pattern such as `win[01:10]` means."""
        if not isinstance(pattern, str):
            raise Uncertain(f"{pattern!r} is no host's name")
        match = _RANGE.fullmatch(pattern)
        if not match:
            if _HOST.fullmatch(pattern) or re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", pattern):
                return [pattern]
            raise Uncertain(f"'{pattern}' is no plain name of a host")
        head, begin, end, step, tail = match.groups()
        return [host for item in _range(begin, end, int(step or 1)) for host in self.expand(f"{head}{item}{tail}")]

    def reconcile(self) -> None:
        """Put what has no parent below `all` and what has no group into `ungrouped`. Raises Uncertain for a loop."""
        for name, parents in self._parents.items():
            if name != "all" and not parents:
                self.add_child("all", name)
        for host, groups in self._direct.items():
            others = groups.keys() - {"all", "ungrouped"}
            if others and "ungrouped" in groups:
                del groups["ungrouped"], self._members["ungrouped"][host]
            elif not others and "ungrouped" not in groups:
                self.add_host("ungrouped", host)
        if conflict := self._members.keys() & self._direct.keys():
            raise Uncertain(f"'{min(conflict)}' is a group and a host")
        for name in self._members:
            self._depth_of(name, ())

    def of(self, host: str) -> list[str]:
        """Return a host's groups and all their ancestors, the one that wins last: by depth, then by name."""
        return self._ordered({above for group in self._direct[host] for above in self._ancestors(group)})

    def with_ancestors(self, group: str) -> list[str]:
        """Return a group and all its ancestors, the one that wins last."""
        return self._ordered(self._ancestors(group))

    def members(self) -> Mapping[str, tuple[str, ...]]:
        """Return the hosts of every group and of its descendants, in the order of the inventory."""
        found: dict[str, list[str]] = {name: [] for name in self._members}
        for host in self._direct:
            for group in self.of(host):
                found[group].append(host)
        return {name: tuple(hosts) for name, hosts in found.items()}

    def _ordered(self, groups: set[str]) -> list[str]:
        return sorted(groups, key=lambda name: (self._depth[name], name))

    def _ancestors(self, group: str) -> set[str]:
        found = {group, "all"}
        waiting = [group]
        while waiting:
            for parent in self._parents[waiting.pop()]:
                if parent not in found:
                    found.add(parent)
                    waiting.append(parent)
        return found

    def _depth_of(self, group: str, below: tuple[str, ...]) -> int:
        """Return how many groups the longest way up to `all` has."""
        if group in below or len(below) > 100:  # noqa: PLR2004 - deeper than any inventory that people wrote
            raise Uncertain(f"group '{group}' is in a loop")
        if group not in self._depth:
            above = [self._depth_of(parent, (*below, group)) for parent in self._parents[group]]
            self._depth[group] = max(above, default=-1) + 1
        return self._depth[group]


def _range(begin: str, end: str, step: int) -> Iterator[str]:
    if begin.isdigit() and end.isdigit():
        width = len(begin) if begin[0] == "0" and len(begin) > 1 else 0
        if int(end) - int(begin) > _MOST_HOSTS or (width and width != len(end)) or int(end) < int(begin):
            raise Uncertain(f"[{begin}:{end}] is a strange range")
        for number in range(int(begin), int(end) + 1, step):
            yield str(number).zfill(width)
    elif begin.isalpha() and end.isalpha():
        letters = string.ascii_letters
        if letters.index(begin) > letters.index(end):
            raise Uncertain(f"[{begin}:{end}] is a strange range")
        yield from letters[letters.index(begin) : letters.index(end) + 1 : step]
    else:
        raise Uncertain(f"[{begin}:{end}] is a strange range")
