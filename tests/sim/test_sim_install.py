"""An upgrade from the store with the power lost at every micro-step; programs that run; disks that are full."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.node.errors import NodeError
from lockstep.node.operations import (
    Operation,
    add_to_store,
    digest_file,
    entry_name,
    install_file,
    prune_store,
    read_store,
    read_transaction,
    write_file,
)
from lockstep.sim import EmulatedEngine
from lockstep.sim.engine import PowerLost

STORE = "C:\\ProgramData\\lockstep\\store"
SOURCE = "C:\\share\\tool.exe"
TOOL, NEW_TOOL, NOTES = "C:\\tools\\tool.exe", "C:\\tools\\new.exe", "C:\\tools\\notes.txt"
OLD, NEW = b"the old tool", b"the new tool"
ENTRY = entry_name("tool", "2.0", hashlib.sha256(NEW).hexdigest())


def converge(engine: EmulatedEngine, *, wrong: bool = False) -> None:
    """Have the new tool in the store and in two places; with a last step that fails where `wrong` says so."""
    session = engine.session()
    tool, new_tool, store, pending = session.read(
        [digest_file(TOOL), digest_file(NEW_TOOL), read_store(STORE), read_transaction("tool")]
    )
    digest = hashlib.sha256(NEW).hexdigest()
    done = tool.get("sha256") == new_tool.get("sha256") == digest
    if done and not pending["pending"] and not wrong:
        return
    operations: list[Operation] = []
    if ENTRY not in [entry["entry"] for entry in store["entries"]]:
        source = {"path": SOURCE}
        names = [("-", "tool.exe")]
        operations.append(
            add_to_store(STORE, "tool", "2.0", digest=digest, source=source, format="file", members=names)
        )
    operations += [
        install_file(TOOL, STORE, ENTRY, "tool.exe", replaces=tool.get("sha256")),
        install_file(NEW_TOOL, STORE, ENTRY, "tool.exe", replaces=new_tool.get("sha256")),
    ]
    if wrong:
        operations.append(write_file(NOTES, b"x", replaces=b"what is not there"))
    session.apply("tool", operations)


def prepare(folder: Path) -> EmulatedEngine:
    engine = EmulatedEngine(folder / "state" / "node")
    for path, content in ((TOOL, OLD), (SOURCE, NEW)):
        place = engine.machine.disk.locate(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return engine


def names_in(engine: EmulatedEngine, folder: str) -> list[str]:
    root = engine.machine.disk.locate(folder)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def check_planned(engine: EmulatedEngine) -> None:
    assert engine.machine.disk.read(TOOL) == NEW
    assert engine.machine.disk.read(NEW_TOOL) == NEW
    assert names_in(engine, "C:\\tools") == ["new.exe", "tool.exe"]
    assert names_in(engine, STORE) == [f"{ENTRY}/manifest.json", f"{ENTRY}/tool.exe"]
    assert names_in(engine, "C:\\ProgramData\\lockstep\\transactions") == []


def steps_of(run: Callable[[EmulatedEngine], None]) -> list[str]:
    with TemporaryDirectory() as folder:
        engine = prepare(Path(folder))
        run(engine)
        return engine.steps.labels


def fail(engine: EmulatedEngine) -> None:
    with pytest.raises(NodeError) as failed:
        converge(engine, wrong=True)
    assert failed.value.rolled_back, failed.value


def interrupted(engine: EmulatedEngine, step: int, *, wrong: bool = False) -> bool:
    engine.faults.add(kind="power", step=step)
    try:
        converge(engine, wrong=wrong)
    except PowerLost:
        return True
    except NodeError:
        assert wrong
    engine.faults.clear()
    return False


STEPS, FAILING = steps_of(converge), steps_of(fail)


@pytest.mark.parametrize("step", range(1, len(STEPS) + 1), ids=lambda step: f"{step}-{STEPS[step - 1]}")
def test_one_power_cut(step: int, tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    assert interrupted(engine, step)
    store = engine.session().read([read_store(STORE)])[0]
    for entry in store["entries"]:
        data = engine.machine.disk.read(f"{STORE}\\{entry['entry']}\\tool.exe")
        assert data == NEW, "an entry that counts as whole is whole"
    converge(engine)
    check_planned(engine)
    steps = engine.steps.labels
    converge(engine)
    assert engine.steps.labels is steps, "a further run has nothing to do"


@pytest.mark.parametrize("step", range(1, len(FAILING) + 1), ids=lambda step: f"{step}-{FAILING[step - 1]}")
def test_a_power_cut_during_the_way_back(step: int, tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    interrupted(engine, step, wrong=True)
    fail(engine)
    assert engine.machine.disk.read(TOOL) == OLD
    assert names_in(engine, "C:\\tools") == ["tool.exe"]
    converge(engine)
    check_planned(engine)


@given(cuts=st.lists(st.integers(1, len(STEPS) + 8), min_size=2, max_size=5), wrong=st.booleans())
@settings(max_examples=40, deadline=None)
def test_several_power_cuts(cuts: list[int], wrong: bool) -> None:  # noqa: FBT001 - Hypothesis gives it
    with TemporaryDirectory() as folder:
        engine = prepare(Path(folder))
        for step in cuts:
            interrupted(engine, step, wrong=wrong)
        converge(engine)
        check_planned(engine)


def test_a_program_that_runs_is_moved_aside_and_cleared_later(tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    engine.faults.add(kind="running", path=TOOL)
    converge(engine)
    assert engine.machine.disk.read(TOOL) == NEW
    assert names_in(engine, "C:\\tools") == ["new.exe", "tool.exe"]
    [waiting] = names_in(engine, f"{STORE}\\trash")
    assert waiting.startswith("tool.exe.lockstep-old.")
    prune = prune_store(STORE, [ENTRY])
    assert engine.session().apply("prune", [prune]).results[0]["changed"] is False
    engine.faults.clear()
    assert engine.session().apply("prune", [prune]).results[0]["changed"] is True
    check_planned(engine)


def test_a_new_program_that_runs_is_moved_aside_on_the_way_back(tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    assert interrupted(engine, next(n for n, label in enumerate(STEPS, 1) if label.endswith(f"to {NEW_TOOL}")))
    engine.faults.add(kind="running", path=TOOL)
    fail(engine)
    assert engine.machine.disk.read(TOOL) == OLD
    assert names_in(engine, "C:\\tools") == ["tool.exe"]


def test_an_old_program_that_cannot_even_be_moved_stays_until_the_next_time(tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    engine.faults.add(kind="running", path=TOOL)
    engine.faults.add(kind="denied", path=f"{STORE}\\trash")
    converge(engine)
    assert names_in(engine, "C:\\tools") == ["new.exe", "tool.exe", "tool.exe.lockstep-old"]
    again = [install_file(TOOL, STORE, ENTRY, "tool.exe", replaces=hashlib.sha256(NEW).hexdigest())]
    with pytest.raises(NodeError, match="still runs it or holds it open") as failed:
        engine.session().apply("again", again)
    assert (failed.value.code, failed.value.rolled_back) == ("in_use", True)
    engine.faults.clear()
    engine.session().apply("again", again)
    check_planned(engine)


@pytest.mark.parametrize("path", [STORE, "C:\\tools", "C:\\ProgramData\\lockstep\\transactions"])
def test_a_full_disk_changes_nothing(path: str, tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    engine.faults.add(kind="disk_full", path=path, free_bytes=3)
    with pytest.raises(NodeError) as failed:
        converge(engine)
    assert (failed.value.code, failed.value.rolled_back) == ("no_space", True)
    assert engine.machine.disk.read(TOOL) == OLD
    assert names_in(engine, "C:\\tools") == ["tool.exe"]
    assert [name for name in names_in(engine, STORE) if not name.startswith(ENTRY)] == []
    engine.faults.clear()
    converge(engine)
    check_planned(engine)
