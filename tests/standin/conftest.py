"""The Windows stand-in for roles: its empty nodes are made once a session, a quarter of a minute each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.standin import nodes
from tests.standin.scenario import Scenario


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for empty nodes; LOCKSTEP_WINDOWS_TEMPLATES names one to keep."""
    if reason := nodes.missing():
        pytest.skip(reason)
    kept = os.environ.get(nodes.TEMPLATES)
    folder = Path(kept) if kept else tmp_path_factory.mktemp("templates")
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def scenario(request: pytest.FixtureRequest, templates: Path, tmp_path: Path) -> Iterator[Scenario]:
    """The default scenario of the role that the test names, its nodes running on the stand-in."""
    made = Scenario(request.param, tmp_path, templates)
    try:
        made.do("create")
        yield made
    finally:
        made.do("destroy")
