"""On the Windows stand-in: the agent is killed, or the plug pulled, in the middle of an upgrade; then again."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.node.support import interruption
from tests.node.support.standin import Node

from lockstep.node.operations import (
    Operation,
    add_to_store,
    digest_file,
    entry_name,
    install_file,
    read_store,
    read_transaction,
)
from lockstep.node.session import Session
from lockstep.node.wire import command_line, envelope

pytestmark = [pytest.mark.windows, pytest.mark.slow]
CHANGES = 30
"""About how many changes an upgrade makes; before every single one is what test_node_install_interrupted.py shows."""
OLD, NEW = b"the old tool", b"the new tool"
DIGEST = hashlib.sha256(NEW).hexdigest()
ENTRY = entry_name("tool", "2.0", DIGEST)


def _plan(session: Session, root: str) -> list[Operation]:
    tool, store = f"{root}\\tool.exe", f"{root}\\store"
    found, kept, pending = session.read([digest_file(tool), read_store(store), read_transaction("upgraded")])
    if found["sha256"] == DIGEST and not pending["pending"]:
        return []
    source, names = {"path": f"{root}\\from.exe"}, [("-", "tool.exe")]
    add = add_to_store(store, "tool", "2.0", digest=DIGEST, source=source, format="file", members=names)
    install = install_file(tool, store, ENTRY, "tool.exe", replaces=found["sha256"])
    return [install] if ENTRY in [entry["entry"] for entry in kept["entries"]] else [add, install]


@contextmanager
def _prepared(node: Node, root: str) -> Iterator[None]:
    shutil.rmtree(node.place(root), ignore_errors=True)
    node.place(root).mkdir()
    node.place(f"{root}\\tool.exe").write_bytes(OLD)
    node.place(f"{root}\\from.exe").write_bytes(NEW)
    yield
    shutil.rmtree(node.place(root), ignore_errors=True)


def _input(node: Node, root: str, at: int, how: str) -> bytes:
    operations = _plan(Session(node.run), root)
    request = {"mode": "apply", "transaction": "upgraded", "operations": operations}
    return envelope(interruption.agent(at, how), request)


def _assert_planned_after_another_run(node: Node, root: str) -> None:
    session = Session(node.run)
    if operations := _plan(session, root):
        session.apply("upgraded", operations)
    place = node.place(root)
    found = {str(path.relative_to(place)): path.read_bytes() for path in place.rglob("*") if path.is_file()}
    kept = {name: data for name, data in found.items() if not name.endswith("manifest.json")}
    assert kept == {"tool.exe": NEW, "from.exe": NEW, f"store/{ENTRY}/tool.exe": NEW}
    assert _plan(session, root) == []


@pytest.mark.parametrize("at", range(2, CHANGES, 4))
def test_killed(node: Node, at: int) -> None:
    root = f"C:\\upgrade-killed-{at}"
    with _prepared(node, root):
        assert node.run(command_line(), _input(node, root, at, interruption.DIE)).stdout == ""
        _assert_planned_after_another_run(node, root)


@pytest.mark.parametrize("at", range(4, CHANGES, 9))
def test_plug_pulled(node: Node, at: int) -> None:
    root = f"C:\\upgrade-unplugged-{at}"
    with _prepared(node, root):
        marker = node.place(f"{root}.reached")
        how = f"[IO.File]::WriteAllText('{root}.reached', ''); Start-Sleep -Seconds 3600"
        process = node.begin(command_line(), _input(node, root, at, how))
        deadline = time.monotonic() + 120
        while not marker.exists():
            assert time.monotonic() < deadline, "the apply did not get that far"
            time.sleep(0.05)
        node.power("stop")
        process.wait(timeout=60)
        marker.unlink()
        node.power("start")
        _assert_planned_after_another_run(node, root)
