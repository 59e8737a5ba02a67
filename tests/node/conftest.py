"""One Windows stand-in for all tests that need one: the first start takes a quarter of a minute."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.node.support import linux, standin
from tests.node.support.cases import PROGRAM

FIGURES: list[str] = []


@pytest.fixture(scope="session")
def figures() -> list[str]:
    """Lines for the summary of the test run."""
    return FIGURES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was measured."""
    if FIGURES:
        terminalreporter.section("measured on the Windows stand-in")
        for line in FIGURES:
            terminalreporter.line(line)


@pytest.fixture(scope="session")
def node() -> Iterator[standin.Node]:
    """A running node of the stand-in, new for this session.

    LOCKSTEP_WINDOWS_NODE_DIR names a folder to keep it in, for those who run these tests again and again.
    """
    if reason := standin.missing():
        pytest.skip(reason)
    kept = os.environ.get("LOCKSTEP_WINDOWS_NODE_DIR")
    folder = Path(kept) if kept else Path(tempfile.mkdtemp(prefix="lockstep-node-"))
    made = standin.Node(folder)
    made.power("start")
    try:
        standin.build_program(made.place(PROGRAM))
        yield made
    finally:
        made.power("stop")
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def host() -> Iterator[linux.Host]:
    """A PowerShell for Linux that runs commands in runspaces."""
    if reason := linux.missing():
        pytest.skip(reason)
    made = linux.Host()
    yield made
    made.close()
