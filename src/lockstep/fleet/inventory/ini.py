"""Ansible's INI inventories: sections of hosts, of child groups and of variables.

Source: ansible-core lib/ansible/plugins/inventory/ini.py.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from lockstep.fleet.inventory.groups import Groups, Uncertain

_SECTION = re.compile(r"\[([^:\]\s]+)(?::(\w+))?\]\s*(?:#.*)?")
_CHILD = re.compile(r"([^:\]\s]+)\s*(?:#.*)?")


def read_ini(text: str, groups: Groups) -> None:
    """Add the groups and hosts of an INI inventory; variables are not kept. Raises Uncertain."""
    declared = {"all", "ungrouped", *groups.names}
    used: set[str] = set()
    children: list[tuple[str, str]] = []
    group, state = "ungrouped", "hosts"
    for line in _lines(text):
        if section := _SECTION.fullmatch(line):
            group, state = section[1], section[2] or "hosts"
            groups.add(group)
            (used if state == "vars" else declared).add(group)
        elif state == "hosts":
            _hosts(line, group, groups)
        elif state == "children":
            children.append((group, _child(line)))
        elif state != "vars" or "=" not in line:
            raise Uncertain(f"'{line}' is no variable")
    if undefined := (used | {child for _, child in children}) - declared:
        raise Uncertain(f"group '{min(undefined)}' is not defined")
    for parent, child in children:
        groups.add_child(parent, child)


def _lines(text: str) -> Iterator[str]:
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]") and not _SECTION.fullmatch(line):
            raise Uncertain(f"'{line}' is no section")
        if line and line[0] not in ";#":
            yield line


def _child(line: str) -> str:
    if match := _CHILD.fullmatch(line):
        return match[1]
    raise Uncertain(f"'{line}' is no group's name")


def _hosts(line: str, group: str, groups: Groups) -> None:
    try:
        pattern, *variables = shlex.split(line, comments=True)
    except ValueError as error:
        raise Uncertain(f"'{line}' is no host") from error
    if any("=" not in variable for variable in variables):
        raise Uncertain(f"'{line}' is no host with variables")
    for host in groups.expand(pattern):
        groups.add_host(group, host)
