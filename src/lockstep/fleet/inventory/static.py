"""Static inventories, read without Ansible where the answer is certain to be Ansible's own.

Everything that is not certain raises Uncertain, and the inventory is read through Ansible instead.
Source: ansible-core 2.19 - 2.21, lib/ansible/inventory (manager, data, group), plugins/inventory (yaml, ini),
plugins/vars/host_group_vars and the default of VARIABLE_PRECEDENCE.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lockstep.finding import DataPath
from lockstep.fleet.inventory.contents import Inventory
from lockstep.fleet.inventory.groups import Groups, Uncertain
from lockstep.fleet.inventory.ini import read_ini
from lockstep.fleet.shape.spec import VARIABLE
from lockstep.fleet.text import source
from lockstep.fleet.text.construct import REPEATED_KEY
from lockstep.fleet.text.description import Description, described_in
from lockstep.fleet.text.document import UNREADABLE, Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

YAML_EXTENSIONS = ("", ".yml", ".yaml", ".json")
_IGNORED = re.compile(
    r"^\.|^host_vars$|^group_vars$|^vars_plugins$|(\.pyc|\.pyo|\.swp|\.bak|~|\.rpm|\.md|\.txt|\.rst|\.orig|\.cfg|\.retry)$",
)
_BROKEN_FILE = {source.UNREADABLE_FILE, source.NOT_UTF8, source.NOT_YAML, source.SEVERAL_DOCUMENTS}
_HARMLESS = {REPEATED_KEY, source.EMPTY_FILE}
_TEMPLATE = re.compile(r"\{\{|\{%|\{#")


class _Broken(Exception):  # noqa: N818 - no failure of the program: it carries what is wrong with a file
    def __init__(self, document: Document) -> None:
        super().__init__(document.file)
        self.document = document


@dataclass(slots=True)
class _Reading:
    """What has been read so far: the groups, and what each group and host defines in inventory files."""

    groups: Groups = field(default_factory=Groups)
    group_vars: dict[str, Description] = field(default_factory=dict)
    host_vars: dict[str, Description] = field(default_factory=dict)


def read_static(path: Path, shown: str) -> Inventory:
    """Return the inventory in a file or folder, whose files findings name below `shown`. Raises Uncertain."""
    reading = _Reading()
    try:
        for file, name in _sources(path, shown):
            _read_source(file, name, reading)
        reading.groups.reconcile()
        folder, folder_shown = (path, shown) if path.is_dir() else (path.parent, str(Path(shown).parent))
        files = _VarsFiles(folder, folder_shown)
        return _inventory(reading, files)
    except _Broken as broken:
        return Inventory(findings=broken.document.findings, documents=(broken.document,))
    except PermissionError as error:  # Ansible passes over some of these, and its answer would lack what is in there
        return Inventory(findings=source.unreadable(error.filename, error).findings)
    except OSError as error:
        raise Uncertain(str(error)) from error


def _sources(path: Path, shown: str) -> Iterator[tuple[Path, str]]:
    """Yield the inventory files that Ansible would try, in its order, each with the name to show."""
    if not path.is_dir():
        yield path, shown
        return
    for name in _names(path):
        if not _IGNORED.search(name):
            yield from _sources(path / name, str(Path(shown) / name))


def _read_source(path: Path, shown: str, reading: _Reading) -> None:
    if not path.is_file() or os.access(path, os.X_OK) or _extension(path.name) == ".toml":
        raise Uncertain(f"{shown} is not a plain file")
    document = source.read(path, shown)
    if document.findings and document.findings[0].rule in {source.UNREADABLE_FILE, source.NOT_UTF8}:
        raise _Broken(document)
    if "ansible_group_priority" in document.text or document.text.startswith("$ANSIBLE_VAULT"):
        raise Uncertain(f"{shown} is encrypted or orders groups itself")
    if _extension(path.name) in YAML_EXTENSIONS and isinstance(document.data, dict) and document.data:
        _as_json(document)
        _sound(document)
        if document.data.get("plugin"):
            raise Uncertain(f"{shown} configures a plugin")
        _YamlInventory(document, reading).read()
        return
    broken = _extension(path.name) in YAML_EXTENSIONS[1:] and document.findings
    try:
        _read_ini(document, reading.groups)
    except Uncertain:
        if broken:
            raise _Broken(document) from None
        raise


def _read_ini(document: Document, groups: Groups) -> None:
    if VARIABLE in document.text:
        raise Uncertain(f"{document.file} describes the fleet in INI")
    read_ini(document.text, groups)


def _names(folder: Path) -> list[str]:
    return sorted(found.name for found in folder.iterdir())


def _extension(name: str) -> str:
    return os.path.splitext(name)[1]  # noqa: PTH122 - Ansible's own cut, which differs from pathlib's for `hosts.`


def _as_json(document: Document) -> None:
    """Raise Uncertain where Ansible, which tries JSON first, would read something else."""
    if document.text.lstrip()[:1] not in ("{", "["):
        return
    import json  # noqa: PLC0415 - hardly ever needed, and a check starts sooner without it

    try:
        data = json.loads(document.text)
    except ValueError:
        return
    except RecursionError as error:
        raise Uncertain("JSON that is nested too deep") from error
    if data != document.data:
        raise Uncertain("JSON and YAML differ")


def _sound(document: Document, *, fleet: bool = False) -> None:
    """Raise what a document's findings mean: broken for Ansible too, or for Ansible to judge.

    Findings inside the description are no concern here: they are shown whoever reads the inventory.
    """
    if any(finding.rule in _BROKEN_FILE for finding in document.findings):
        raise _Broken(document)
    for path in [finding.path for finding in document.findings if finding.rule not in _HARMLESS]:
        if not (fleet and path[:1] == (VARIABLE,)):
            raise Uncertain(f"{document.file} holds a value that Ansible must judge")
    if document.ansible_only:
        raise Uncertain(f"{document.file} holds a value that only Ansible can read")


class _YamlInventory:
    """Ansible's YAML inventory: groups with hosts, children and vars."""

    def __init__(self, document: Document, reading: _Reading) -> None:
        self._document = document
        self._reading = reading

    def read(self) -> None:
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
            where[name] = _description(self._document, (*path, VARIABLE), values[VARIABLE])


class _VarsFiles:
    """The files below group_vars and host_vars, each read once."""

    def __init__(self, folder: Path, shown: str) -> None:
        self._folder = folder
        self._shown = shown
        self._documents: dict[str, Document] = {}
        self._listed: dict[str, frozenset[str]] = {}

    def described(self, kind: str, name: str) -> Description | None:
        """Return the last description among an entity's files, in Ansible's order."""
        description = None
        for relative in self._files(kind, name):
            document = self._read(relative)
            if isinstance(document.data, dict) and VARIABLE in document.data:
                description = _description(document, (VARIABLE,), document.data[VARIABLE])
        return description

    def _files(self, kind: str, name: str) -> list[str]:
        names = self._names(kind)
        if "/" in name or name in (".", ".."):
            raise Uncertain(f"'{name}' is no file's name")
        for extension in YAML_EXTENSIONS:
            if name + extension in names:
                found = f"{kind}/{name}{extension}"
                return self._below(found) if (self._folder / found).is_dir() else [found]
        return []

    def _names(self, kind: str) -> frozenset[str]:
        if kind not in self._listed:
            folder = self._folder / kind
            self._listed[kind] = frozenset(_names(folder)) if folder.is_dir() else frozenset()
        return self._listed[kind]

    def _below(self, folder: str) -> list[str]:
        found = []
        for name in _names(self._folder / folder):
            if name.startswith(".") or name.endswith("~"):
                continue
            path = f"{folder}/{name}"
            extension = _extension(name)
            if (self._folder / path).is_dir():
                found += [] if extension else self._below(path)
            elif extension in YAML_EXTENSIONS:
                found.append(path)
        return found

    def _read(self, relative: str) -> Document:
        if relative not in self._documents:
            document = source.read(self._folder / relative, str(Path(self._shown) / relative))
            if document.text.startswith("$ANSIBLE_VAULT"):
                raise Uncertain(f"{document.file} is encrypted")
            _as_json(document)
            _sound(document, fleet=True)
            if document.data and not isinstance(document.data, dict):
                raise Uncertain(f"{document.file} holds no variables")
            self._documents[relative] = document
        return self._documents[relative]


def _description(document: Document, path: DataPath, data: Any) -> Description:
    if _TEMPLATE.search(document.text) and _templated(data):
        raise Uncertain(f"{document.file} holds templates")
    return described_in(document, path, data)


def _templated(data: Any) -> bool:
    match data:
        case str():
            return bool(_TEMPLATE.search(data))
        case dict():
            return any(map(_templated, data.values()))
        case list():
            return any(map(_templated, data))
        case _:
            return data is UNREADABLE


def _inventory(reading: _Reading, files: _VarsFiles) -> Inventory:
    by_group = {name: files.described("group_vars", name) for name in reading.groups.names}
    seen = {}
    for host in reading.groups.hosts:
        description = _last(
            [
                *_precedence(reading.groups.of(host), reading.group_vars, by_group),
                reading.host_vars.get(host),
                files.described("host_vars", host),
            ],
        )
        if description:
            seen[host] = description
    idle = {}
    for name in reading.groups.names:
        description = _last(_precedence(reading.groups.with_ancestors(name), reading.group_vars, by_group))
        if description:
            idle[name] = description
    return Inventory(reading.groups.members(), seen, idle)


def _precedence(
    groups: list[str],
    inline: Mapping[str, Description],
    files: Mapping[str, Description | None],
) -> Iterator[Description | None]:
    """Yield what groups define, the strongest last: `all` before the others, inventory files before group_vars."""
    for where in (inline, files):
        yield where.get("all")
        yield from (where.get(name) for name in groups if name != "all")


def _last(descriptions: Iterable[Description | None]) -> Description | None:
    found = None
    for description in descriptions:
        found = description or found
    return found
