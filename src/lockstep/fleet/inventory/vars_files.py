"""The files below group_vars and host_vars.

Source: ansible-core lib/ansible/plugins/vars/host_group_vars.py, parsing/dataloader.py `find_vars_files`.
"""

from __future__ import annotations

from pathlib import Path

from lockstep.fleet.inventory.groups import Uncertain
from lockstep.fleet.inventory.trusted import (
    YAML_EXTENSIONS,
    check_certain,
    description_at,
    extension_of,
    names_in,
)
from lockstep.fleet.shape.spec import VARIABLE
from lockstep.fleet.text import source
from lockstep.fleet.text.description import Description
from lockstep.fleet.text.document import Document


class VarsFiles:
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
                description = description_at(document, (VARIABLE,), document.data[VARIABLE])
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
            self._listed[kind] = frozenset(names_in(folder)) if folder.is_dir() else frozenset()
        return self._listed[kind]

    def _below(self, folder: str, above: tuple[Path, ...] = ()) -> list[str]:
        found = []
        here = self._folder / folder
        for name in names_in(here, above):
            if name.startswith(".") or name.endswith("~"):
                continue
            path = f"{folder}/{name}"
            extension = extension_of(name)
            if (self._folder / path).is_dir():
                found += [] if extension else self._below(path, (*above, here))
            elif extension in YAML_EXTENSIONS:
                found.append(path)
        return found

    def _read(self, relative: str) -> Document:
        if relative not in self._documents:
            document = source.read(self._folder / relative, str(Path(self._shown) / relative))
            if document.text.startswith("$ANSIBLE_VAULT"):
                raise Uncertain(f"{document.file} is encrypted")
            check_certain(document, variables=True)
            if document.data and not isinstance(document.data, dict):
                raise Uncertain(f"{document.file} holds no variables")
            self._documents[relative] = document
        return self._documents[relative]
