"""What the tests of the simulated node share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockstep.sim import EmulatedEngine, NodeSpec


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., EmulatedEngine]:
    """A function that makes a node: `make(build="20348", containerd="1.7.35")`."""

    def _make(name: str = "node", **spec: Any) -> EmulatedEngine:
        return EmulatedEngine(tmp_path / "state" / name, NodeSpec(name, **spec))

    return _make


@pytest.fixture
def engine(make: Callable[..., EmulatedEngine]) -> EmulatedEngine:
    """A node of the default versions."""
    return make()
