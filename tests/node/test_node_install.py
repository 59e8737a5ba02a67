"""On the Windows stand-in: a program is replaced while it runs, forwards and on the way back."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.node.support.cases import PROGRAM, ServiceBefore
from tests.node.support.standin import Node

from lockstep.node.errors import NodeError
from lockstep.node.operations import (
    Program,
    check_program,
    digest_file,
    install_file,
    prune_store,
    restart_service,
)
from lockstep.node.session import Session

pytestmark = pytest.mark.windows
ROOT, ENTRY = "C:\\installed", "tool-2.0-0123456789ab"
STORE, TOOL, CONFIG = f"{ROOT}\\store", f"{ROOT}\\bin\\tool.exe", f"{ROOT}\\web.conf"


@pytest.fixture
def installed(node: Node) -> Iterator[Node]:
    """A node with a program in its place, and another release of it in the store."""
    shutil.rmtree(node.place(ROOT), ignore_errors=True)
    old = node.place(PROGRAM).read_bytes()
    # What comes after a program's end does not keep it from running.
    new = old + b"2.0"
    manifest = {
        "manifest": 1,
        "name": "tool",
        "version": "2.0",
        "sha256": "0",
        "files": [{"name": "tool.exe", "size": len(new), "sha256": hashlib.sha256(new).hexdigest()}],
    }
    files = {
        TOOL: old,
        CONFIG: b"run",
        f"{STORE}\\{ENTRY}\\tool.exe": new,
        f"{STORE}\\{ENTRY}\\manifest.json": json.dumps(manifest).encode(),
    }
    for path, data in files.items():
        node.place(path).parent.mkdir(parents=True, exist_ok=True)
        node.place(path).write_bytes(data)
    yield node
    shutil.rmtree(node.place(ROOT), ignore_errors=True)


def _running(node: Node) -> subprocess.Popen[bytes]:
    """Start the program that is in its place; it ends when its standard input does."""
    command = [node.powershell()[0], "run", str(node.folder), TOOL, "hold", CONFIG]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"held"
    return process


def _names(node: Node, folder: str) -> list[str]:
    place = node.place(folder)
    return sorted(path.name for path in place.iterdir()) if place.is_dir() else []


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_program_that_runs(installed: Node) -> None:
    node, session = installed, Session(installed.run)
    process = _running(node)
    [before] = session.read([digest_file(TOOL)])
    session.apply("install", [install_file(TOOL, STORE, ENTRY, "tool.exe", replaces=before["sha256"])])
    assert _digest(node.place(TOOL)) != before["sha256"]
    assert _names(node, f"{ROOT}\\bin") == ["tool.exe"]
    assert process.poll() is None
    [waiting] = _names(node, f"{STORE}\\trash")
    assert waiting.startswith("tool.exe.lockstep-old.")
    prune = [prune_store(STORE, [ENTRY])]
    assert session.apply("prune", prune).results[0]["changed"] is False
    process.communicate(timeout=60)
    assert session.apply("prune", prune).results[0]["changed"] is True
    assert _names(node, STORE) == [ENTRY]


def test_a_new_program_that_runs_is_taken_back(installed: Node) -> None:
    node, session = installed, Session(installed.run)
    node.prepare([ServiceBefore("installed", f"{TOOL} service installed {CONFIG}", running=True)])
    old = _digest(node.place(TOOL))
    try:
        with pytest.raises(NodeError) as failed:
            session.apply(
                "installed",
                [
                    install_file(TOOL, STORE, ENTRY, "tool.exe", replaces=old),
                    restart_service("installed", timeout_seconds=20, settle_seconds=0),
                    check_program(Program(TOOL), ["arguments"], must_contain=["never"], timeout_seconds=1),
                ],
            )
        assert (failed.value.code, failed.value.rolled_back) == ("check_failed", True), str(failed.value)
        assert node.states(["installed"])["installed"].state == "running"
        assert _digest(node.place(TOOL)) == old
        assert _names(node, f"{ROOT}\\bin") == ["tool.exe"]
    finally:
        node.program("forget", "installed")
