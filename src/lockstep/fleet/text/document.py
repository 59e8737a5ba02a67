"""One file's text, its data and its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from lockstep.finding import DataPath, Finding, Place

Entries = dict[Any, tuple[yaml.Node, yaml.Node]]
"""A mapping's key and value nodes by key."""

UNREADABLE: Final = object()
"""Stands in the data for a value that a finding has already been raised for, or that only Ansible can evaluate."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file's text, its data and its nodes; `data` is None where the file has no content that can be read.

    `entries` holds each mapping node's keys and values by the node's identity, merge keys (`<<`) applied.
    `ansible_only` lists the paths of values that only Ansible can evaluate (`!vault`, `!unsafe`).
    """

    file: str
    text: str
    root: yaml.Node | None = None
    data: Any = None
    entries: dict[int, Entries] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    ansible_only: tuple[DataPath, ...] = ()


def span(file: str, node: yaml.Node) -> Place:
    """Return where a node is written: all of it on its first line."""
    start, end = node.start_mark, node.end_mark
    length = end.column - start.column if end.line == start.line else 1
    return Place(file, start.line + 1, start.column + 1, max(length, 1))
