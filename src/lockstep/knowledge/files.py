"""The files of the knowledge: found by their names, read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # PyYAML built without libyaml reads the same, slower
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]  # the two loaders share no base class in typeshed

_HERE = Path(__file__).parent


def names(folder: str, suffix: str) -> list[str]:
    """Return the names of a folder's files without their suffix, in order."""
    return sorted(path.stem for path in (_HERE / folder).glob(f"*{suffix}"))


def text(folder: str, name: str, suffix: str) -> str:
    """Return one file's text. Raises FileNotFoundError where there is none of that name."""
    return (_HERE / folder / f"{name}{suffix}").read_text(encoding="utf-8")


@cache
def entries(folder: str) -> dict[str, dict[str, Any]]:
    """Return the parsed YAML files of a folder by name, in order; callers must not change them."""
    return dict(_entries(folder))


def _entries(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in names(folder, ".yaml"):
        yield name, yaml.load(text(folder, name, ".yaml"), Loader=_Loader)
