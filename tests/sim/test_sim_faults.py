"""Faults: what is wrong with a node when it should be, and that it is over when it should be."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.exceptions import ConnectionError as Cut
from winrm.protocol import Protocol

from lockstep.node.errors import NodeError
from lockstep.node.operations import (
    Program,
    check_program,
    read_file,
    read_service,
    restart_service,
    run_program,
    write_file,
)
from lockstep.sim import DEFAULT_PASSWORD, EmulatedEngine, NodeSpec, SimulatedNodes
from lockstep.sim.engine import Completed
from lockstep.sim.machine import Machine
from lockstep.sim.programs import placeholder

ACCOUNT = ("Administrator", DEFAULT_PASSWORD)
PATH = "C:\\a b\\[x] $y.toml"
ONE_COMMAND = ["Create", "Command", "Send", "Receive", "Signal", "Delete"]

WRONG: list[tuple[Any, str]] = [
    ("power", "a fault is an object with kind"),
    ({"kind": "earthquake"}, "one of latency, drop"),
    ({"kind": "power"}, "fault power needs step"),
    ({"kind": "power", "step": "3"}, 'step cannot be "3"'),
    ({"kind": "power", "step": True}, "step cannot be true"),
    ({"kind": "power", "step": 1, "seconds": 2}, "fault power has no seconds; it takes kind, times, step, off_seconds"),
    ({"kind": "drop", "request": 1, "when": "later"}, "when is one of before, after"),
    ({"kind": "service", "name": "x", "does": "sulks"}, "does is one of exits, dies, hangs, deaf"),
    ({"kind": "operation", "op": "file.eat", "code": "io"}, "op is one of system.read, "),
    ({"kind": "operation", "op": "file.read", "code": "conflict"}, "code is one of denied, in_use"),
]


@pytest.mark.parametrize(("fault", "words"), WRONG, ids=[words for _, words in WRONG])
def test_wrong_faults_are_told(fault: Any, words: str, engine: EmulatedEngine) -> None:
    engine.faults.add(kind="latency", seconds=1)
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        engine.faults.set([fault])
    assert engine.faults.data() == [{"kind": "latency", "seconds": 1}]


def failure(engine: EmulatedEngine, *operations: dict[str, Any]) -> NodeError:
    with pytest.raises(NodeError) as caught:
        engine.session().apply("test", list(operations))
    return caught.value


@pytest.mark.parametrize("kind", ["denied", "in_use"])
def test_a_file_that_is_denied_or_held(kind: str, engine: EmulatedEngine) -> None:
    session = engine.session()
    session.apply("test", [write_file(PATH, b"1", replaces=None)])
    engine.faults.add(kind=kind, path=PATH.upper())
    with pytest.raises(NodeError) as caught:
        session.read([read_file(PATH)])
    assert caught.value.code == kind
    error = failure(engine, write_file(PATH, b"2", replaces=b"1"))
    assert (error.code, error.rolled_back) == (kind, True)
    engine.faults.clear()
    assert session.read([read_file(PATH)])[0]["size"] == 1


def test_a_folder_that_is_denied(engine: EmulatedEngine) -> None:
    engine.faults.add(kind="denied", path="C:\\ProgramData\\lockstep")
    error = failure(engine, write_file(PATH, b"1", replaces=None))
    assert (error.step, error.code, error.rolled_back) == (None, "denied", True)
    assert not engine.machine.disk.exists(PATH)


def test_an_operation_that_fails_is_undone(engine: EmulatedEngine) -> None:
    engine.faults.add(kind="operation", op="file.write", nth=2, code="io", message="The disk is full.")
    writes = [write_file(path, b"1", replaces=None) for path in (PATH, "C:\\second.txt")]
    error = failure(engine, *writes)
    assert (error.step, error.code, error.message) == (1, "io", "The disk is full.")
    assert error.rolled_back is True
    assert error.rejected == (f"{PATH}.rejected",)
    assert not engine.machine.disk.exists(PATH)
    assert engine.faults.data() == []
    engine.session().apply("test", writes)
    assert not engine.machine.disk.exists(f"{PATH}.rejected")


SERVICE_FAULTS: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"does": "exits"}, "service_failed", {"exit_code": 1053, "after_seconds": None}),
    ({"does": "dies", "after_seconds": 1.2}, "service_failed", {"exit_code": 1067, "after_seconds": 1.2}),
    ({"does": "dies", "after_seconds": 0.5, "exit_code": 7}, "service_failed", {"exit_code": 7, "after_seconds": 0.5}),
    ({"does": "hangs"}, "timeout", {}),
]


@pytest.mark.parametrize(("fault", "code", "more"), SERVICE_FAULTS)
def test_a_service_that_does_not_come_up(
    fault: dict[str, Any], code: str, more: dict[str, Any], engine: EmulatedEngine
) -> None:
    started = time.monotonic()
    engine.faults.add(kind="service", name="Containerd", **fault)
    write = write_file(PATH, b"1", replaces=None)
    error = failure(engine, write, restart_service("containerd", timeout_seconds=60, settle_seconds=5))
    assert error.code == code
    assert {key: getattr(error, key) for key in more} == more
    # The fault was for one start: the way back works, and no one waited for it.
    assert error.rolled_back is True
    assert not engine.machine.disk.exists(PATH)
    assert engine.session().read([read_service("containerd")])[0]["state"] == "running"
    assert time.monotonic() - started < 5


def test_a_service_that_does_not_stop(engine: EmulatedEngine) -> None:
    engine.faults.add(kind="service", name="containerd", does="deaf")
    engine.session().apply("test", [restart_service("containerd")])
    error = failure(engine, write_file(PATH, b"1", replaces=None), restart_service("containerd", timeout_seconds=3))
    assert (error.code, error.rolled_back) == ("timeout", True)
    assert error.message == "containerd did not stop within 3 s: it is stop_pending."
    assert engine.session().read([read_service("containerd")])[0]["state"] == "running"


class Sleeper:
    """A program that takes a minute of the node's time."""

    def __init__(self, version: str) -> None:
        self.version = version

    def run(self, machine: Machine, arguments: list[str]) -> Completed:
        machine.clock.sleep(60)
        return Completed(0, f"{self.version} {arguments}".encode(), b"")

    def serve(self, machine: Machine, arguments: list[str]) -> dict[str, Any]:
        raise NotImplementedError


def test_programs_of_ones_own_may_take_time(engine: EmulatedEngine) -> None:
    engine.machine.programs = {**engine.machine.programs, "sleeper.exe": Sleeper}
    place = engine.machine.disk.locate("C:\\sleeper.exe")
    place.write_bytes(placeholder("sleeper.exe", "1.0"))
    program = Program(path="C:\\sleeper.exe")
    # Two sessions: one asks the same only once, with the longer limit.
    patient, hasty = (
        engine.session().read([run_program(program, ["a"], timeout_seconds=seconds)])[0] for seconds in (100, 10)
    )
    assert (patient["exit_code"], patient["stdout"], patient["timed_out"]) == (0, "1.0 ['a']", False)
    assert (hasty["exit_code"], hasty["stdout"], hasty["timed_out"]) == (-1, "", True)
    error = failure(engine, check_program(program, must_contain=["1.0"], timeout_seconds=30))
    assert "did not end in time, after 1 attempts in 30 s" in error.message


def test_a_service_that_never_comes_up_again(engine: EmulatedEngine) -> None:
    engine.faults.add(kind="service", name="containerd", does="exits", times=None)
    error = failure(engine, write_file(PATH, b"1", replaces=None), restart_service("containerd"))
    assert error.rolled_back is False
    assert any("containerd did not start" in reason for reason in error.rollback_errors)
    assert engine.session().read([{"op": "transaction.read", "name": "test"}])[0]["pending"] is True
    engine.faults.clear()
    engine.session().apply("test", [write_file(PATH, b"1", replaces=None), restart_service("containerd")])
    assert engine.session().read([{"op": "transaction.read", "name": "test"}])[0]["pending"] is False


def test_a_service_that_outlives_its_settling_time_dies_later(engine: EmulatedEngine) -> None:
    engine.faults.add(kind="service", name="containerd", does="dies", after_seconds=30)
    engine.session().apply("test", [restart_service("containerd", settle_seconds=5)])
    engine.machine.clock.sleep(26)
    service = engine.session().read([read_service("containerd")])[0]
    assert (service["state"], service["exit_code"], service["process_id"]) == ("stopped", 1067, 0)


def test_a_person_may_write_the_file(engine: EmulatedEngine) -> None:
    (engine.folder / "faults.json").write_text(json.dumps([{"kind": "in_use", "path": "C:\\x"}]), encoding="utf-8")
    with pytest.raises(NodeError, match="being used by another process"):
        engine.session().read([read_file("C:\\x")])


UNREADABLE = {
    "": "Expecting value",
    "[{}": "Expecting ',' delimiter",
    '{"kind": "latency", "seconds": 1}': "a list of faults is expected",
    '[{"kind": "latency", "seconds": 1}, {"kind": "earthquake"}]': "a fault is an object with kind, one of latency",
}


@pytest.mark.parametrize(("text", "words"), UNREADABLE.items(), ids=UNREADABLE.values())
def test_a_file_that_is_wrong_is_told_once_and_the_node_goes_on(
    text: str, words: str, engine: EmulatedEngine, caplog: pytest.LogCaptureFixture
) -> None:
    path = engine.folder / "faults.json"
    path.write_text(text, encoding="utf-8")
    for _ in range(2):
        assert engine.faults.latency() == 0
        assert not engine.session().read([read_file("C:\\x")])[0]["exists"]
    [told] = caplog.messages
    assert told.startswith(f"{path}: {words}")
    assert told.endswith("no fault happens until it is corrected")
    path.write_text('[{"kind": "latency", "seconds": 1.5}]', encoding="utf-8")
    assert engine.faults.latency() == 1.5


@pytest.fixture
def nodes(tmp_path: Path) -> Any:
    with SimulatedNodes(tmp_path, [NodeSpec("win-0")]) as running:
        yield running


def command(nodes: SimulatedNodes, transport: Any = "basic") -> int:
    """Run a command over WinRM: its exit code."""
    client = Protocol(
        nodes.url("win-0"),
        transport=transport,
        username=ACCOUNT[0],
        password=ACCOUNT[1],
        proxy=None,
        ca_trust_path=None,  # type: ignore[arg-type]  # the client's own documentation offers None
    )
    shell = client.open_shell()
    run = client.run_command(shell, "PowerShell", ["x"])
    client.send_command_input(shell, run, b"x", end=True)
    code = client.get_command_output(shell, run)[2]
    client.cleanup_command(shell, run)
    client.close_shell(shell)
    return code


@pytest.mark.parametrize("transport", ["basic", "ntlm"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("request_number", range(1, 7))
def test_the_connection_is_cut(request_number: int, when: str, transport: str, nodes: SimulatedNodes) -> None:
    nodes.faults("win-0").add(kind="drop", request=request_number, when=when)
    with pytest.raises(Cut):
        command(nodes, transport)
    actions = nodes.stats()["win-0"]["by_action"]
    assert list(actions) == sorted(ONE_COMMAND[:request_number])
    assert nodes.stats()["win-0"]["dropped"] == 1
    assert command(nodes, transport) == 1


def test_latency(nodes: SimulatedNodes) -> None:
    nodes.faults("win-0").add(kind="latency", seconds=0.05)
    started = time.monotonic()
    command(nodes)
    assert 0.3 <= time.monotonic() - started < 2


def control(nodes: SimulatedNodes, document: Any, auth: Any = ACCOUNT) -> requests.Response:
    return requests.post(f"http://127.0.0.1:{nodes.port('win-0')}/control", json=document, auth=auth, timeout=5)


def test_control(nodes: SimulatedNodes) -> None:
    faults = [{"kind": "power", "step": 3}]
    assert control(nodes, {"node": "win-0", "faults": faults}).json() == {"ok": True, "faults": faults}
    assert nodes.engine("win-0").faults.data() == faults
    command(nodes)
    assert control(nodes, {"reset_stats": True}).json() == {"ok": True}
    assert nodes.stats()["win-0"]["requests"] == 0


def test_power_off_and_on(nodes: SimulatedNodes) -> None:
    control(nodes, {"node": "win-0", "power": "off"})
    with pytest.raises(Cut):
        command(nodes)
    control(nodes, {"node": "win-0", "power": "on"})
    assert command(nodes) == 1


CONTROL_WRONG: list[tuple[Any, str]] = [
    ([], "expected an object"),
    ({"power": "on"}, "node is one of win-0"),
    ({"node": "x", "faults": []}, "node is one of win-0"),
    ({"node": "win-0", "faults": {}}, "faults is a list"),
    ({"node": "win-0", "faults": [{}]}, "a fault is an object with kind"),
    ({"node": "win-0", "power": "up"}, "power is off or on"),
    ({"nodes": "win-0"}, "expected an object"),
]


@pytest.mark.parametrize(("document", "words"), CONTROL_WRONG)
def test_wrong_control(document: Any, words: str, nodes: SimulatedNodes) -> None:
    reply = control(nodes, document)
    assert reply.status_code == 400
    assert words in reply.json()["error"]


@pytest.mark.parametrize("auth", [None, ("Administrator", "wrong"), ("x", DEFAULT_PASSWORD)])
def test_control_asks_who_is_there(auth: Any, nodes: SimulatedNodes) -> None:
    assert control(nodes, {"reset_stats": True}, auth).status_code == 401


def test_shells_do_not_outlive_the_power(nodes: SimulatedNodes) -> None:
    with requests.Session() as session:
        url = nodes.url("win-0")
        assert session.post(url, auth=ACCOUNT, timeout=5).status_code == 200
        nodes.engine("win-0").power_off(0)
        with pytest.raises(Cut):
            session.post(url, auth=ACCOUNT, timeout=5)
        assert session.post(url, auth=ACCOUNT, timeout=5).status_code == 200
