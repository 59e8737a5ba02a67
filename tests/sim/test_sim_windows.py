"""Windows' own rules: command lines, the service manager."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockstep.sim import EmulatedEngine, command_line
from lockstep.sim.agent.programs import program_path
from lockstep.sim.services import Service, StartError

Make = Callable[..., EmulatedEngine]

# Source: Microsoft Learn, "Parsing C command-line arguments", its table, with a program before each.
LINES = [
    (r'x "a b c" d e', ["a b c", "d", "e"]),
    (r'x "ab\"c" "\\" d', ['ab"c', "\\", "d"]),
    (r'x a\\\b d"e f"g h', [r"a\\\b", "de fg", "h"]),
    (r"x a\\\"b c d", [r"a\"b", "c", "d"]),
    (r'x a\\\\"b c" d e', [r"a\\b c", "d", "e"]),
    (r'x "" a', ["", "a"]),
    ("x \t  a\t", ["a"]),
    ("x", []),
]


@pytest.mark.parametrize(("line", "arguments"), LINES)
def test_command_lines(line: str, arguments: list[str]) -> None:
    assert command_line.split(line) == ["x", *arguments]


def test_backslashes_of_a_program_are_its_own() -> None:
    assert command_line.split(r'"C:\a b\c.exe" d') == [r"C:\a b\c.exe", "d"]
    assert command_line.split("  ") == []


@pytest.mark.parametrize(
    ("line", "program"),
    [
        (r'"C:\Program Files\x.exe" --a', r"C:\Program Files\x.exe"),
        (r"C:\Program Files\x.exe --a", r"C:\Program Files\x.exe"),
        (r"C:\k\kubelet --a", r"C:\k\kubelet"),
    ],
)
def test_program_of_a_service(line: str, program: str) -> None:
    assert program_path(line) == program


def add(engine: EmulatedEngine, name: str, *needs: str, line: str | None = None, start_type: str = "automatic") -> None:
    own = line or r'"C:\Program Files\containerd\containerd.exe" --run-service'
    engine.services.add(Service(name, name, own, start_type, list(needs)))


def state(engine: EmulatedEngine, name: str) -> str:
    service = engine.services.get(name)
    assert service is not None
    return service.state


def test_what_a_service_needs_is_started_first(engine: EmulatedEngine) -> None:
    add(engine, "a")
    add(engine, "b", "a")
    add(engine, "c", "B")
    engine.services.start("c")
    assert [state(engine, name) for name in "abc"] == ["running"] * 3
    assert engine.services.dependents("A") == ["c", "b"]


def test_what_runs_is_a_dependent_by_way_of_what_has_stopped_too(engine: EmulatedEngine) -> None:
    add(engine, "a")
    add(engine, "b", "a")
    add(engine, "c", "b")
    engine.services.start("c")
    engine.services.kill("b")
    assert state(engine, "c") == "running"
    assert engine.services.dependents("a") == ["c"]


def test_a_dependency_that_fails(engine: EmulatedEngine) -> None:
    add(engine, "a", line="C:\\none.exe")
    add(engine, "b", "a")
    with pytest.raises(StartError) as caught:
        engine.services.start("b")
    assert caught.value.number == 1068
    assert state(engine, "a") == "stopped"


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("C:\\none.exe", 2),
        ("C:\\var\\lib\\kubelet\\config.yaml", 193),
        ("C:\\k\\kubelet.exe", 1053),
        ('"C:\\Program Files\\containerd\\crictl.exe"', 1053),
        ('"C:\\Program Files\\containerd\\containerd.exe"', 1053),
        ("", 2),
    ],
)
def test_services_that_do_not_start(line: str, number: int, engine: EmulatedEngine) -> None:
    add(engine, "a")
    engine.services.configure("a", line)
    with pytest.raises(StartError) as caught:
        engine.services.start("a")
    assert caught.value.number == number
    service = engine.services.get("a")
    assert service is not None
    assert (service.state, service.exit_code, service.process_id) == ("stopped", number, 0)


def test_a_disabled_service(engine: EmulatedEngine) -> None:
    add(engine, "a", start_type="disabled")
    with pytest.raises(StartError, match="1058"):
        engine.services.start("a")


def test_boot_starts_automatic_services_and_tells_of_others(engine: EmulatedEngine) -> None:
    add(engine, "manual", start_type="manual")
    add(engine, "broken", line="C:\\none.exe")
    add(engine, "good")
    engine.power_off(0)
    assert engine.boot == 2
    assert [state(engine, name) for name in ("containerd", "good", "broken", "manual")] == [
        "running",
        "running",
        "stopped",
        "stopped",
    ]
    assert "broken service failed to start" in (engine.folder / "events.log").read_text(encoding="utf-8")


def test_a_program_file_can_be_upgraded(engine: EmulatedEngine) -> None:
    """A placeholder names a version; its process keeps the one it was started with."""
    engine.machine.disk.locate("C:\\Program Files\\containerd\\containerd.exe").write_bytes(
        b"lockstep simulated program: containerd.exe 2.2.9\r\n"
    )
    memory = engine.machine.memory("containerd")
    assert memory is not None
    assert memory["version"] == "2.3.4"
    engine.services.stop("containerd")
    engine.services.start("containerd")
    memory = engine.machine.memory("containerd")
    assert memory is not None
    assert memory["version"] == "2.2.9"
