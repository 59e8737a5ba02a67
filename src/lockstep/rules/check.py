"""The whole check of a description: what the fleet's own layer finds, and what the domains know better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lockstep.fleet import load
from lockstep.fleet.load import Loaded
from lockstep.rules.fleet import kubelet_fields


def check(path: Path | str, *, vault_password_file: Path | None = None) -> Loaded:
    """Return the description in an inventory or a bare file with its plan, or with everything that is wrong with it."""
    return _judged(load.check(path, vault_password_file=vault_password_file))


def check_content(content: bytes, shown: str) -> Loaded:
    """Return the same for the content of a bare file, which findings name as `shown`."""
    return _judged(load.check_content(content, shown))


def check_data(data: Any) -> Loaded:
    """Return the same for a value of `lockstep_fleet` that Ansible has already evaluated, made of plain types."""
    return _judged(load.check_data(data))


def _judged(loaded: Loaded) -> Loaded:
    return loaded.adding(list(kubelet_fields.findings(loaded)))
