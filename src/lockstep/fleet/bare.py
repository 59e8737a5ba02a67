"""Bare files: one YAML file that holds the description, for the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lockstep.finding import DataPath, Finding, Place, Severity
from lockstep.fleet.shape.spec import FLEET, VARIABLE
from lockstep.fleet.text import source
from lockstep.fleet.text.description import NO_FLEET, Description, described_in
from lockstep.fleet.text.document import UNREADABLE, Document
from lockstep.fleet.text.locate import NodeLocator, Nowhere
from lockstep.words import nearest

NEEDS_ANSIBLE = "LW011"

_EXTENSIONS = (".yml", ".yaml", ".json")
_TEMPLATE = re.compile(r"\{\{|\{%")
_VARIABLE = re.compile(rf"^{VARIABLE}\s*:".encode(), re.MULTILINE)
_INI = re.compile(r"\A(\s|[#;].*\n)*\[[^\]\n,]+\]\s*$", re.MULTILINE)


def bare_description(path: Path, shown: str) -> Description | None:
    """Return the description in a bare file, or None where the file is an inventory.

    A bare file has `lockstep_fleet` at its top, beside whatever other variables, or the description itself. What is no
    file on a disk (standard input, say) is a bare file always, and is read once.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        return _of_document(source.unreadable(shown, error))
    named_as_yaml = path.suffix in _EXTENSIONS
    if path.is_file() and not named_as_yaml and not _VARIABLE.search(content):
        return None
    document = source.decode(content, shown)
    if path.is_file() and named_as_yaml and _is_inventory(document):
        return None
    return _of_document(document)


def bare_content(content: bytes, shown: str) -> Description:
    """Return the description in the content of a bare file."""
    return _of_document(source.decode(content, shown))


def _of_document(document: Document) -> Description:
    data = document.data
    if document.data is None:
        return Description(UNREADABLE, Nowhere(), document.findings, (document,))
    if isinstance(data, dict) and VARIABLE not in data and not data.keys() & FLEET.fields.keys():
        near = nearest(VARIABLE, map(str, data))
        key = next((key for key in data if str(key) == near), None)
        place = NodeLocator(document).key(() if key is None else (key,)) or Place(document.file, 1, 1)
        hint = f"'{near}' should be {VARIABLE}" if near else "expected it at the top of the file"
        missing = Finding(NO_FLEET, Severity.ERROR, (), f"there is no {VARIABLE} in {document.file}", hint, place=place)
        return Description(UNREADABLE, Nowhere(), (*document.findings, missing), (document,))
    root: DataPath = (VARIABLE,) if isinstance(data, dict) and VARIABLE in data else ()
    description = described_in(document, root, data[VARIABLE] if root else data)
    outside = (finding for finding in document.findings if finding.path[: len(root)] != root)
    findings = (*description.findings, *outside, *_for_ansible(document, root, description))
    return Description(description.data, description.locator, findings, (document,))


def _for_ansible(document: Document, root: DataPath, description: Description) -> Iterator[Finding]:
    """Yield a finding for each value of the description that only Ansible could evaluate."""
    paths = [path[len(root) :] for path in document.ansible_only if path[: len(root)] == root]
    if _TEMPLATE.search(document.text):
        paths += _templates(description.data, ())
    for path in paths:
        yield Finding(
            NEEDS_ANSIBLE,
            Severity.ERROR,
            path,
            "a template or vault value in a bare file is never evaluated",
            "only an inventory has variables",
            "give the inventory instead (-i), or write the value out",
            description.locator.value(path),
        )


def _templates(data: Any, path: DataPath) -> Iterator[DataPath]:
    match data:
        case str() if _TEMPLATE.search(data):
            yield path
        case dict():
            for key, value in data.items():
                yield from _templates(value, (*path, key))
        case list():
            for index, value in enumerate(data):
                yield from _templates(value, (*path, index))


def _is_inventory(document: Document) -> bool:
    data = document.data
    if document.root is None:
        return _INI.search(document.text) is not None
    if not isinstance(data, dict) or VARIABLE in data:
        return False
    return "plugin" in data or any(_is_group(key, value) for key, value in data.items())


def _is_group(key: Any, value: Any) -> bool:
    if value is None:
        return key not in FLEET.fields
    return isinstance(value, dict) and bool(value) and value.keys() <= {"hosts", "children", "vars"}
