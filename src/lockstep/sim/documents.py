"""The JSON files that a simulated node's state is in: a person may read them, and edit them while it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the object that a file holds; None where there is no file."""
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return document


def write_json(path: Path, document: Any) -> None:
    """Write a file in one piece."""
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)
