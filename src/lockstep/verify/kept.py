"""What `lockstep_node_info` kept of nodes, one file each, as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lockstep.verify.observed import ObservationError

ENDING = ".json"
Facts = Mapping[str, Any]
"""The fact `lockstep_node`; its module documents what it has."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A host of the inventory and what was read of it; `node` is None, and `error` says why, where nothing was.

    `overrides` has the host's variables that go before its pool's plan, by the names that the roles have for them.
    """

    host: str
    groups: tuple[str, ...] = ()
    node: Facts | None = None
    error: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)


def read_kept(paths: Iterable[Path]) -> list[Kept]:
    """Return what these files and the files in these folders hold, by host.

    Raises ObservationError where one cannot be read, or is something else.
    """
    files = [file for path in paths for file in (sorted(path.glob(f"*{ENDING}")) if path.is_dir() else [path])]
    return sorted(map(_kept, files), key=lambda kept: kept.host)


def _kept(path: Path) -> Kept:
    try:
        return _of(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise ObservationError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ObservationError(f"{path} is not what playbooks/observe.yml keeps of a node") from error


def _of(document: Any) -> Kept:
    host, groups, node = str(document["host"]), tuple(map(str, document["groups"])), document.get("node")
    if node is None:
        return Kept(host, groups, error=str(document["error"]))
    node["windows"].get("build")
    return Kept(host, groups, node, overrides=dict(document.get("overrides", {})))
