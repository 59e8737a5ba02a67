"""Documents of an inventory, where it is certain that Ansible reads the same in them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from lockstep.finding import DataPath
from lockstep.fleet.inventory.groups import Uncertain
from lockstep.fleet.shape.spec import VARIABLE
from lockstep.fleet.text import source
from lockstep.fleet.text.construct import REPEATED_KEY
from lockstep.fleet.text.description import Description, described_in
from lockstep.fleet.text.document import UNREADABLE, Document

YAML_EXTENSIONS = ("", ".yml", ".yaml", ".json")
_BROKEN_FILE = {source.UNREADABLE_FILE, source.NOT_UTF8, source.NOT_YAML, source.SEVERAL_DOCUMENTS}
_HARMLESS = {REPEATED_KEY, source.EMPTY_FILE}
_TEMPLATE = re.compile(r"\{\{|\{%|\{#")


class Broken(Exception):  # noqa: N818 - no failure of the program: it carries what is wrong with a file
    """A file that Ansible cannot read either; `document` says why."""

    def __init__(self, document: Document) -> None:
        super().__init__(document.file)
        self.document = document


def names_in(folder: Path, above: tuple[Path, ...] = ()) -> list[str]:
    """Return the names in a folder, in Ansible's order; none where a link leads back to a folder `above` it.

    Ansible follows such a link until the system stops it, and finds nothing new. Raises OSError.
    """
    if any(folder.samefile(other) for other in above):
        return []
    return sorted(found.name for found in folder.iterdir())


def extension_of(name: str) -> str:
    """Return a name's extension as Ansible cuts it, with its dot."""
    return os.path.splitext(name)[1]  # noqa: PTH122 - pathlib cuts `hosts.` another way


def check_certain(document: Document, *, variables: bool = False) -> None:
    """Raise Broken for a document that Ansible cannot read either, Uncertain for one that Ansible may read otherwise.

    Where the document holds `variables`, findings inside the description are no concern here: they are shown whoever
    reads the inventory.
    """
    _check_json(document)
    if any(finding.rule in _BROKEN_FILE for finding in document.findings):
        raise Broken(document)
    for path in [finding.path for finding in document.findings if finding.rule not in _HARMLESS]:
        if not (variables and path[:1] == (VARIABLE,)):
            raise Uncertain(f"{document.file} holds a value that Ansible must judge")
    if document.ansible_only:
        raise Uncertain(f"{document.file} holds a value that only Ansible can read")


def description_at(document: Document, path: DataPath, data: Any) -> Description:
    """Return the description at a path of a document. Raises Uncertain where Ansible would have to evaluate it."""
    if _TEMPLATE.search(document.text) and _templated(data):
        raise Uncertain(f"{document.file} holds templates")
    return described_in(document, path, data)


def _check_json(document: Document) -> None:
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
