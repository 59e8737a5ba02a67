"""Power is lost at every micro-step of an apply, once and again; running again ends as planned and loses nothing.

The controller here does what the modules do: read, merge, apply where something differs or an earlier apply is pending.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.node.errors import NodeError
from lockstep.node.operations import (
    Operation,
    configure_service,
    content_of,
    read_file,
    read_service,
    read_transaction,
    remove_file,
    restart_service,
    write_file,
)
from lockstep.sim import EmulatedEngine
from lockstep.sim.engine import PowerLost

CONFIG = "C:\\Program Files\\containerd\\config.toml"
OTHER = "C:\\Program Files\\containerd\\conf.d\\other.toml"
USERS = b"version = 3\n# written by hand\n"
MANAGED = b"[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.planned]\nruntime_type = 'x'\n"
BROKEN = b"[[[\n"
JOURNALS = "C:\\ProgramData\\lockstep\\transactions"

Controller = Callable[[EmulatedEngine], None]


def converge(engine: EmulatedEngine, added: bytes = MANAGED) -> None:
    """Add the managed text to what the user wrote, remove another file, set a flag, restart."""
    session = engine.session()
    file, other, service, transaction = session.read(
        [read_file(CONFIG), read_file(OTHER), read_service("containerd"), read_transaction("containerd")]
    )
    content, line = content_of(file) or b"", service["binary_path"]
    wanted = content if added in content else content + added
    wanted_line = line if "--log-level" in line else f"{line} --log-level info"
    if not transaction["pending"] and wanted == content and not other["exists"] and line == wanted_line:
        return
    operations: list[Operation] = [
        write_file(CONFIG, wanted, replaces=content_of(file), backup=True),
        remove_file(OTHER, replaces=content_of(other)),
        configure_service("containerd", wanted_line, replaces=line),
        restart_service("containerd"),
    ]
    session.apply("containerd", operations)


def prepare(folder: Path) -> EmulatedEngine:
    engine = EmulatedEngine(folder / "state" / "node")
    for path, content in ((CONFIG, USERS), (OTHER, b"# another\n")):
        place = engine.machine.disk.locate(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    engine.session().apply("containerd", [restart_service("containerd")])
    return engine


def files_of(engine: EmulatedEngine) -> set[str]:
    return {path.name for path in (engine.folder / "C").rglob("*") if path.is_file()}


def check_planned(engine: EmulatedEngine, before: set[str]) -> None:
    """The planned state, nothing of the user's lost, no temporary file left, the service up on what is new."""
    assert engine.machine.disk.read(CONFIG) == USERS + MANAGED
    assert engine.machine.disk.read(OTHER) is None
    assert engine.machine.disk.listing(JOURNALS) == []
    left = files_of(engine) - before
    assert [name for name in left if not name.endswith(".bak")] == []
    assert len(left) <= 1
    service = engine.services.get("containerd")
    assert service is not None
    assert service.state == "running"
    assert service.binary_path.endswith("--log-level info")
    memory = engine.machine.memory("containerd")
    assert memory is not None
    assert "planned" in memory["handlers"]


def steps_of(run: Callable[[EmulatedEngine], None]) -> list[str]:
    with TemporaryDirectory() as folder:
        engine = prepare(Path(folder))
        run(engine)
        return engine.steps.labels


def interrupted(engine: EmulatedEngine, step: int, added: bytes = MANAGED) -> bool:
    """Run the controller with the power cut before a step: whether it came so far."""
    engine.faults.add(kind="power", step=step)
    try:
        converge(engine, added)
    except PowerLost:
        return True
    except NodeError:
        assert added == BROKEN
    engine.faults.clear()
    return False


STEPS = steps_of(converge)


def test_the_steps_cover_every_kind_of_change() -> None:
    for start in ("write C:\\", "replace", "move", "delete", "configure service", "stop service", "start service"):
        assert any(label.startswith(start) for label in STEPS), start
    assert sum(label.endswith(": half") for label in STEPS) >= 3


@pytest.mark.parametrize("step", range(1, len(STEPS) + 1), ids=lambda step: f"{step}-{STEPS[step - 1]}")
def test_one_power_cut(step: int, tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    before = files_of(engine) - {"other.toml"}
    boot = engine.boot
    assert interrupted(engine, step)
    assert engine.boot == (boot or 0) + 1
    service = engine.services.get("containerd")
    assert service is not None
    assert service.state == "running", "a half-done apply must not keep the node from coming up"
    converge(engine)
    check_planned(engine, before)
    steps = engine.steps.labels
    converge(engine)
    assert engine.steps.labels is steps, "the second run changes nothing"


@given(cuts=st.lists(st.integers(1, len(STEPS) + 8), min_size=2, max_size=5))
@settings(max_examples=40, deadline=None)
def test_several_power_cuts(cuts: list[int]) -> None:
    with TemporaryDirectory() as folder:
        engine = prepare(Path(folder))
        before = files_of(engine) - {"other.toml"}
        for step in cuts:
            interrupted(engine, step)
        converge(engine)
        check_planned(engine, before)


def failing_steps() -> list[str]:
    """The steps of an apply whose service does not come up, with its way back."""

    def run(engine: EmulatedEngine) -> None:
        with pytest.raises(NodeError):
            converge(engine, BROKEN)

    return steps_of(run)


FAILING = failing_steps()


@pytest.mark.parametrize("step", range(1, len(FAILING) + 1), ids=lambda step: f"{step}-{FAILING[step - 1]}")
def test_a_power_cut_during_the_way_back(step: int, tmp_path: Path) -> None:
    """A configuration that containerd refuses, power lost anywhere; then the right one."""
    engine = prepare(tmp_path)
    before = files_of(engine) - {"other.toml"}
    interrupted(engine, step, BROKEN)
    # The node holds the user's file or the broken one; whoever repairs it starts from what is there.
    file = engine.session().read([read_file(CONFIG)])[0]
    content = content_of(file) or b""
    assert content.startswith(USERS)
    if BROKEN in content:
        repaired = write_file(CONFIG, USERS, replaces=content)
        engine.session().apply("containerd", [repaired, restart_service("containerd")])
    converge(engine)
    assert [path.name for path in (engine.folder / "C").rglob("*.rejected")] == []
    check_planned(engine, before)


def test_half_a_file_is_really_written(tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    step = next(index for index, label in enumerate(STEPS, 1) if label == f"write {CONFIG}.lockstep-new: half")
    assert interrupted(engine, step)
    half = engine.machine.disk.read(f"{CONFIG}.lockstep-new")
    assert half == (USERS + MANAGED)[: len(USERS + MANAGED) // 2]
    assert engine.machine.disk.read(CONFIG) == USERS


def test_a_node_stays_off_as_long_as_it_was_told(tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    engine.faults.add(kind="power", step=1, off_seconds=None)
    with pytest.raises(PowerLost):
        converge(engine)
    assert engine.boot is None
    with pytest.raises(PowerLost):
        converge(engine)
    engine.power_on()
    converge(engine)


def test_opening_a_state_folder_again_is_a_boot(tmp_path: Path) -> None:
    engine = prepare(tmp_path)
    converge(engine)
    before = engine.machine.memory("containerd")
    again = EmulatedEngine(engine.folder)
    service = again.services.get("containerd")
    assert service is not None
    assert service.state == "running"
    assert again.machine.memory("containerd") == before
    kubelet = again.services.get("kubelet")
    assert kubelet is not None
    assert kubelet.state == "running", "an automatic service starts at boot"
