"""Ansible's YAML inventories: groups with hosts, children and vars.

Source: ansible-core lib/ansible/plugins/inventory/yaml.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lockstep.finding import DataPath
from lockstep.fleet.inventory.groups import Groups, Uncertain
from lockstep.fleet.inventory.trusted import description_at
from lockstep.fleet.shape.spec import VARIABLE
from lockstep.fleet.text.description import Description
from lockstep.fleet.text.document import Document


@dataclass(slots=True)
class Reading:
    """What has been read so far: the groups, and what each group and host defines in inventory files."""

    groups: Groups = field(default_factory=Groups)
    group_vars: dict[str, Description] = field(default_factory=dict)
    host_vars: dict[str, Description] = field(default_factory=dict)


class YamlInventory:
    """One YAML inventory file."""

    def __init__(self, document: Document, reading: Reading) -> None:
        self._document = document
        self._reading = reading

    def read(self) -> None:
        """Add what the file holds to the reading. Raises Uncertain."""
        for name, content in self._document.data.items():
            self._group(name, content, (name,))

    def _group(self, name: Any, content: Any, path: DataPath) -> None:
        if not isinstance(name, str) or not name or not (content is None or isinstance(content, dict)):
            raise Uncertain(f"{self._document.file}: a group that is none")
        groups = self._reading.groups
        groups.add(name)
        content = content or {}
        for host, values in self._section(content, "hosts").items():
            for expanded in groups.expand(host):
                groups.add_host(name, expanded)
                if values and not isinstance(values, dict):
                    raise Uncertain(f"{self._document.file}: a host's variables are no mapping")
                self._define(self._reading.host_vars, expanded, values or {}, (*path, "hosts", host))
        self._define(self._reading.group_vars, name, self._section(content, "vars"), (*path, "vars"))
        for child, below in self._section(content, "children").items():
            self._group(child, below, (*path, "children", child))
            groups.add_child(name, child)

    def _section(self, content: Mapping[str, Any], key: str) -> dict[Any, Any]:
        section = content.get(key)
        if isinstance(section, str):
            return {section: None}
        if section is not None and not isinstance(section, dict):
            raise Uncertain(f"{self._document.file}: '{key}' is no mapping")
        return section or {}

    def _define(self, where: dict[str, Description], name: str, values: Mapping[Any, Any], path: DataPath) -> None:
        if VARIABLE in values:
            where[name] = description_at(self._document, (*path, VARIABLE), values[VARIABLE])
