"""Static inventories, read without Ansible where the answer is certain to be Ansible's own.

Everything that is not certain raises Uncertain, and the inventory is read through Ansible instead.
Source: ansible-core 2.19 - 2.21, lib/ansible/inventory (manager, data, group), plugins/inventory (yaml, ini),
plugins/vars/host_group_vars and the default of VARIABLE_PRECEDENCE.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from lockstep.fleet.inventory.contents import Inventory
from lockstep.fleet.inventory.groups import Groups, Uncertain
from lockstep.fleet.inventory.ini import read_ini
from lockstep.fleet.inventory.trusted import YAML_EXTENSIONS, Broken, check_certain, extension_of, names_in
from lockstep.fleet.inventory.vars_files import VarsFiles
from lockstep.fleet.inventory.yaml_inventory import Reading, YamlInventory
from lockstep.fleet.shape.spec import VARIABLE
from lockstep.fleet.text import source
from lockstep.fleet.text.description import Description
from lockstep.fleet.text.document import Document

_IGNORED = re.compile(
    r"^\.|^host_vars$|^group_vars$|^vars_plugins$|(\.pyc|\.pyo|\.swp|\.bak|~|\.rpm|\.md|\.txt|\.rst|\.orig|\.cfg|\.retry)$",
)


def read_static(path: Path, shown: str) -> Inventory:
    """Return the inventory in a file or folder, whose files findings name below `shown`. Raises Uncertain."""
    reading = Reading()
    try:
        for file, name in _sources(path, shown):
            _read_source(file, name, reading)
        reading.groups.reconcile()
        folder, folder_shown = (path, shown) if path.is_dir() else (path.parent, str(Path(shown).parent))
        files = VarsFiles(folder, folder_shown)
        return _inventory(reading, files)
    except Broken as broken:
        return Inventory(findings=broken.document.findings, documents=(broken.document,))
    except PermissionError as error:  # Ansible passes over some of these, and its answer would lack what is in there
        return Inventory(findings=source.unreadable(error.filename, error).findings)
    except OSError as error:
        raise Uncertain(str(error)) from error


def _sources(path: Path, shown: str, above: tuple[Path, ...] = ()) -> Iterator[tuple[Path, str]]:
    """Yield the inventory files that Ansible would try, in its order, each with the name to show."""
    if not path.is_dir():
        yield path, shown
        return
    for name in names_in(path, above):
        if not _IGNORED.search(name):
            yield from _sources(path / name, str(Path(shown) / name), (*above, path))


def _read_source(path: Path, shown: str, reading: Reading) -> None:
    if not path.is_file() or os.access(path, os.X_OK) or extension_of(path.name) == ".toml":
        raise Uncertain(f"{shown} is not a plain file")
    document = source.read(path, shown)
    if document.findings and document.findings[0].rule in {source.UNREADABLE_FILE, source.NOT_UTF8}:
        raise Broken(document)
    if "ansible_group_priority" in document.text or document.text.startswith("$ANSIBLE_VAULT"):
        raise Uncertain(f"{shown} is encrypted or orders groups itself")
    if extension_of(path.name) in YAML_EXTENSIONS and isinstance(document.data, dict) and document.data:
        check_certain(document)
        if document.data.get("plugin"):
            raise Uncertain(f"{shown} configures a plugin")
        YamlInventory(document, reading).read()
        return
    broken = extension_of(path.name) in YAML_EXTENSIONS[1:] and document.findings
    try:
        _read_ini(document, reading.groups)
    except Uncertain:
        if broken:
            raise Broken(document) from None
        raise


def _read_ini(document: Document, groups: Groups) -> None:
    if VARIABLE in document.text:
        raise Uncertain(f"{document.file} describes the fleet in INI")
    read_ini(document.text, groups)


def _inventory(reading: Reading, files: VarsFiles) -> Inventory:
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
