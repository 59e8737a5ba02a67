"""An upgrade from the store, interrupted before each of its changes, and run again: nothing lost, nothing left."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.node.support import interruption
from tests.node.support.linux import Host, LinuxBench

from lockstep.node.contract import check_request
from lockstep.node.errors import NodeError
from lockstep.node.operations import (
    Operation,
    add_to_store,
    digest_file,
    entry_name,
    install_file,
    read_store,
    read_transaction,
    write_file,
)
from lockstep.node.session import Session
from lockstep.node.wire import command_line, envelope

pytestmark = [pytest.mark.windows, pytest.mark.slow]
ROOT = "C:\\upgraded"
STORE, SOURCE, TOOL, NEW_TOOL = f"{ROOT}\\store", f"{ROOT}\\from.exe", f"{ROOT}\\bin\\tool.exe", f"{ROOT}\\bin\\new.exe"
OLD, NEW = b"the old tool", b"the new tool"
DIGEST = hashlib.sha256(NEW).hexdigest()
ENTRY = entry_name("tool", "2.0", DIGEST)
PLANNED = {"bin/tool.exe", "bin/new.exe", "from.exe", f"store/{ENTRY}/tool.exe", f"store/{ENTRY}/manifest.json"}


def _plan(session: Session, *, wrong: bool = False) -> list[Operation]:
    tool, new_tool, store, pending = session.read(
        [digest_file(TOOL), digest_file(NEW_TOOL), read_store(STORE), read_transaction("upgraded")]
    )
    if tool.get("sha256") == new_tool.get("sha256") == DIGEST and not pending["pending"] and not wrong:
        return []
    source, names = {"path": SOURCE}, [("-", "tool.exe")]
    add = add_to_store(STORE, "tool", "2.0", digest=DIGEST, source=source, format="file", members=names)
    return [
        *([] if ENTRY in [entry["entry"] for entry in store["entries"]] else [add]),
        install_file(TOOL, STORE, ENTRY, "tool.exe", replaces=tool.get("sha256")),
        install_file(NEW_TOOL, STORE, ENTRY, "tool.exe", replaces=new_tool.get("sha256")),
        *([write_file(f"{ROOT}\\notes.txt", b"x", replaces=b"what is not there")] if wrong else []),
    ]


def _carry_out(bench: LinuxBench, *, wrong: bool = False) -> None:
    session = Session(bench.run)
    operations = _plan(session, wrong=wrong)
    if operations:
        session.apply("upgraded", operations)


def _interrupted(bench: LinuxBench, at: int, *, wrong: bool = False) -> bool:
    operations = _plan(Session(bench.run), wrong=wrong)
    if not operations:
        return False
    request = {"mode": "apply", "transaction": "upgraded", "operations": operations}
    check_request(request)
    script = interruption.agent(at, interruption.TRIP_WIRE)
    return bool(bench.order(command_line(), envelope(script, request))["tripped"])


def _benches(host: Host, folder: Path) -> Iterator[tuple[int, LinuxBench]]:
    """A node before the upgrade, and the number of the change to be interrupted, without end."""
    for at in range(1, 200):
        place = folder / str(at)
        place.mkdir()
        bench = LinuxBench(host, place)
        bench.tree = ROOT
        bench.write(TOOL, OLD)
        bench.write(SOURCE, NEW)
        yield at, bench


def _files(bench: LinuxBench) -> set[str]:
    root = bench.folder / "C:" / "upgraded"
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def _content(bench: LinuxBench, path: str) -> bytes:
    return (bench.folder / path.replace("\\", "/")).read_bytes()


def _assert_planned(bench: LinuxBench, at: str) -> None:
    assert _files(bench) == PLANNED, at
    assert _content(bench, TOOL) == _content(bench, NEW_TOOL) == NEW, at
    assert _plan(Session(bench.run)) == [], "a further run has nothing to do"


def test_interrupted_once(host: Host, tmp_path: Path) -> None:
    count = 0
    for at, bench in _benches(host, tmp_path):
        if not _interrupted(bench, at):
            break
        count = at
        _carry_out(bench)
        _assert_planned(bench, f"before change {at}")
    assert count > 25


def test_interrupted_twice(host: Host, tmp_path: Path) -> None:
    for at, bench in _benches(host, tmp_path):
        if at % 3:
            continue
        if not _interrupted(bench, at):
            break
        again = (at * 7) % 31 + 1
        _interrupted(bench, again)
        _carry_out(bench)
        _assert_planned(bench, f"before change {at}, then before change {again}")


def test_interrupted_while_it_is_undone(host: Host, tmp_path: Path) -> None:
    for at, bench in _benches(host, tmp_path):
        if not _interrupted(bench, at, wrong=True):
            break
        with pytest.raises(NodeError) as failed:
            _carry_out(bench, wrong=True)
        assert (failed.value.code, failed.value.rolled_back) == ("conflict", True), (
            f"before change {at}: {failed.value}"
        )
        assert _content(bench, TOOL) == OLD, f"before change {at}"
        assert {name for name in _files(bench) if name.startswith("bin/")} == {"bin/tool.exe"}, f"before change {at}"
        _carry_out(bench)
        _assert_planned(bench, f"before change {at}, then undone")
