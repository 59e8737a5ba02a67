"""A folder of manifests: how it differs from what is rendered, and how it is brought up to date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lockstep.runtimeclass.render import is_rendered


class FolderError(Exception):
    """A folder or file that cannot be read or written: which, and why."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file that differs; `before` is None where there is no file, `after` is None where there should be none."""

    name: str
    before: str | None
    after: str | None


def differences(folder: Path, manifests: Mapping[str, str]) -> list[Change]:
    """Return what to change in the folder so that it holds these manifests, in order of file name.

    Files that lockstep did not write are not its own: they stay, unless a manifest has their name.
    Raises FolderError where the folder cannot be read.
    """
    present = _present(folder)
    changes = [Change(name, present.get(name), text) for name, text in manifests.items() if present.get(name) != text]
    changes += [
        Change(name, text, None) for name, text in present.items() if name not in manifests and is_rendered(text)
    ]
    return sorted(changes, key=lambda change: change.name)


def handler_changes(changes: list[Change]) -> list[str]:
    """Return the classes whose handler changes, which the API server refuses for an object that is there.

    Source: kubernetes/kubernetes pkg/apis/node/validation, ValidateRuntimeClassUpdate.
    """
    return [
        str(after["metadata"]["name"])
        for before, after in ((_document(change.before), _document(change.after)) for change in changes)
        if before.get("kind") == after.get("kind") == "RuntimeClass" and before.get("handler") != after["handler"]
    ]


def _document(text: str | None) -> dict[str, Any]:
    try:
        document = yaml.safe_load(text or "")
    except yaml.YAMLError:
        return {}
    return document if isinstance(document, dict) else {}


def write(folder: Path, changes: list[Change]) -> None:
    """Bring the folder up to date; each file is replaced as a whole.

    Raises FolderError where a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for change in changes:
            target = folder / change.name
            if change.after is None:
                target.unlink()
            else:
                temporary = folder / f".{change.name}.new"
                temporary.write_bytes(change.after.encode())
                temporary.replace(target)
    except OSError as error:
        raise FolderError(f"cannot write {error.filename or folder}: {error.strerror}") from error


def _present(folder: Path) -> dict[str, str]:
    try:
        if not folder.exists():
            return {}
        files = [path for path in sorted(folder.iterdir()) if path.suffix in {".yaml", ".yml"} and path.is_file()]
        return {path.name: path.read_bytes().decode("utf-8", "replace") for path in files}
    except OSError as error:
        raise FolderError(f"cannot read {error.filename or folder}: {error.strerror}") from error
