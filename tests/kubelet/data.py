"""The cases as data beside these tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).parent


def cases(folder: str, *, refused: bool = False) -> list[Any]:
    found = [
        pytest.param(yaml.safe_load(path.read_text(encoding="utf-8")), id=path.stem)
        for path in sorted((HERE / "cases" / folder).glob("*.yaml"))
        if path.stem.startswith("refused-") is refused
    ]
    assert found, folder
    return found
