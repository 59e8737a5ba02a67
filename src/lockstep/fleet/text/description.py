"""One value of `lockstep_fleet`, as it stands in a text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lockstep.finding import DataPath, Finding
from lockstep.fleet.text.document import Document
from lockstep.fleet.text.locate import Locator, NodeLocator

NO_FLEET = "LW010"


@dataclass(frozen=True, slots=True)
class Description:
    """One value of `lockstep_fleet`: plain data, where it is written, and what is wrong with its text.

    The findings' paths start at the value.
    """

    data: Any
    locator: Locator
    findings: tuple[Finding, ...] = ()
    documents: tuple[Document, ...] = ()


def described_in(document: Document, root: DataPath, data: Any) -> Description:
    """Return the description that stands at one path of a document."""
    size = len(root)
    findings = tuple(replace(found, path=found.path[size:]) for found in document.findings if found.path[:size] == root)
    return Description(data, NodeLocator(document, root), findings, (document,))
