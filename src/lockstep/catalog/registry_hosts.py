"""hosts.toml, by which containerd finds a registry's mirrors: what each release reads of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.catalog.data import load
from lockstep.catalog.versions import Version


def host_keys() -> Mapping[str, Version | None]:
    """Return the keys of a host, each with the first release that has it (None: all that are described)."""
    return _since("keys")


def capabilities() -> Mapping[str, Version | None]:
    """Return what a host may be capable of, each with the first release that knows it; the others refuse the file."""
    return _since("capabilities")


def _since(table: str) -> dict[str, Version | None]:
    entries: Mapping[str, Mapping[str, str]] = _facts()[table]
    return {name: Version.parse(facts["since"]) if "since" in facts else None for name, facts in entries.items()}


def _facts() -> Mapping[str, Any]:
    facts: Mapping[str, Any] = load("containerd")["files"]["hosts"]
    return facts
