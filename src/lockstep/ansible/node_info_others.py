"""What the tasks that follow a lockstep_node_info will ask, so that its read serves them too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lockstep.ansible.spec import argument_spec
from lockstep.node.operations import Operation

Reads = Callable[[Mapping[str, Any]], list[Operation]]

MODULES: Mapping[str, tuple[Reads, Mapping[str, str]]] = {}
"""By module: what it reads for its arguments, and which of them lockstep_node_info has under another name."""


def defaults_of(modules: Path) -> dict[str, dict[str, Any]]:
    """Return the arguments that each module has where a task gives none; `modules` is the folder of their files."""
    return {name: _defaults(argument_spec(modules / f"{name}.py")) for name in MODULES}


def asked_by_others(arguments: Mapping[str, Any], defaults: Mapping[str, Mapping[str, Any]]) -> list[Operation]:
    """Return what the other modules would ask of a node where things are as these arguments say."""
    asked: list[Operation] = []
    for module, (reads, named) in MODULES.items():
        same = {theirs: arguments[own] for theirs, own in named.items()}
        given = arguments["also_for"].get(module) or {}
        asked += reads({**defaults[module], **same, **given})
    return asked


def _defaults(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: option.get("default") for name, option in spec.items()}
