"""The WinRM front, asked by the client that Ansible uses."""

from __future__ import annotations

import base64
import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
from winrm.exceptions import InvalidCredentialsError, WinRMOperationTimeoutError, WinRMTransportError, WSManFaultError
from winrm.protocol import Protocol

from lockstep.node.operations import read_file, read_service, read_system
from lockstep.node.session import Completed, Session
from lockstep.node.wire import command_line, standard_input
from lockstep.sim import DEFAULT_PASSWORD, NodeSpec, SimulatedNodes

TRANSPORTS = ("basic", "ntlm")
PIECE = 200_000
"""Bytes in one Send. Source: ansible-core plugins/connection/winrm.py, _wrapper_payload_stream."""
ONE_COMMAND = {"Create": 1, "Command": 1, "Send": 1, "Receive": 1, "Signal": 1, "Delete": 1}
HANDSHAKES = {"basic": 0, "ntlm": 3}


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[SimulatedNodes]:
    with SimulatedNodes(tmp_path, [NodeSpec("win-0")]) as running:
        yield running


def connect(nodes: SimulatedNodes, transport: Any = "basic", name: str = "win-0", **more: Any) -> Protocol:
    # Nothing from the environment: no proxy, no certificates.
    own = {"username": "Administrator", "password": DEFAULT_PASSWORD, "proxy": None, "ca_trust_path": None, **more}
    return Protocol(nodes.url(name), transport=transport, **own)


def run(client: Protocol, line: str, stdin: bytes = b"", *, split: bool = True) -> Completed:
    """Run a command as Ansible does: core up to 2.20 gives arguments apart, 2.21 one text."""
    shell = client.open_shell(codepage=65001)
    program, _, arguments = line.partition(" ")
    command = client.run_command(shell, program, arguments.split(" ")) if split else client.run_command(shell, line)
    for start in range(0, len(stdin), PIECE):
        client.send_command_input(shell, command, stdin[start : start + PIECE], end=start + PIECE >= len(stdin))
    stdout, stderr, code = client.get_command_output(shell, command)
    client.cleanup_command(shell, command)
    client.close_shell(shell)
    return Completed(code, stdout.decode(), stderr.decode())


def session(nodes: SimulatedNodes, transport: str = "basic", **more: Any) -> Session:
    return Session(lambda line, stdin: run(connect(nodes, transport, **more), line, stdin))


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("split", [True, False])
def test_one_command_takes_six_requests(nodes: SimulatedNodes, transport: str, *, split: bool) -> None:
    request = {"mode": "read", "operations": [read_system()]}
    done = run(connect(nodes, transport), command_line(), standard_input(request), split=split)
    assert done.returncode == 0
    assert "10.0.26100.1" in done.stdout
    counted = nodes.stats()["win-0"]
    assert counted["by_action"] == ONE_COMMAND
    assert counted["requests"] == 6
    assert counted["handshakes"] == HANDSHAKES[transport]
    assert counted["connections"] == 1


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_wrong_password(nodes: SimulatedNodes, transport: str) -> None:
    with pytest.raises(InvalidCredentialsError):
        connect(nodes, transport, password=DEFAULT_PASSWORD[::-1]).open_shell()
    assert nodes.stats()["win-0"]["requests"] == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("user", ["administrator", ".\\Administrator"])
def test_a_user_in_other_spellings(nodes: SimulatedNodes, transport: str, user: str) -> None:
    assert connect(nodes, transport, username=user).open_shell()


def test_a_strange_user_is_nobody(nodes: SimulatedNodes) -> None:
    for transport in TRANSPORTS:
        with pytest.raises(InvalidCredentialsError):
            connect(nodes, transport, username="Guest").open_shell()


def test_encryption_is_real(nodes: SimulatedNodes) -> None:
    """Nothing of a message can be read on the wire, and a message that was changed is refused."""
    transport: Any = connect(nodes, "ntlm").transport
    transport.build_session()
    message = b"<s:Envelope>the secret</s:Envelope>"
    sealed = transport.encryption.prepare_encrypted_request(transport.session, transport.endpoint, message)
    assert b"secret" not in sealed.body
    sealed.body = sealed.body[:-40] + bytes([sealed.body[-40] ^ 1]) + sealed.body[-39:]
    assert transport.session.send(sealed).status_code == 400


def test_plain_messages_over_ntlm(nodes: SimulatedNodes) -> None:
    assert run(connect(nodes, "ntlm", message_encryption="never"), "PowerShell x").returncode == 1


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_large_input_and_output(nodes: SimulatedNodes, transport: str) -> None:
    content = bytes(range(256)) * 4096
    place = nodes.engine("win-0").machine.disk.locate("C:\\large.bin")
    place.write_bytes(content)
    result = session(nodes, transport).read([read_file("C:\\large.bin")])[0]
    assert base64.b64decode(result["content"]) == content
    # 1.4 MB of output in envelopes of at most 150 KB.
    assert nodes.stats()["win-0"]["by_action"]["Receive"] > 9


def test_other_commands_are_refused_in_words(nodes: SimulatedNodes) -> None:
    for line in ("PowerShell -Command Get-Date", "cmd.exe /c ver", "", command_line() + "x"):
        done = run(connect(nodes), line)
        assert done.returncode == 1
        assert "simulated node" in done.stderr
        assert "--engine powershell" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "stdin", [b"", b"nonsense", b"[]", b'{"script": ""}', b"\xff\xfe", b'{"script": "", "request": {}}']
)
def test_input_that_the_bootstrap_cannot_read(nodes: SimulatedNodes, stdin: bytes) -> None:
    done = run(connect(nodes), command_line(), stdin)
    assert done.returncode == 1
    assert "one JSON object" in done.stderr


def test_a_command_that_takes_its_time_is_asked_for_again(nodes: SimulatedNodes) -> None:
    def slow(line: str, stdin: bytes) -> Any:  # noqa: ARG001 - as the engine's own
        time.sleep(1.5)
        raise RuntimeError("ended")

    nodes.engine("win-0").execute = slow  # type: ignore[method-assign]  # the test's own slow engine
    client = connect(nodes, operation_timeout_sec=1, read_timeout_sec=5)
    shell = client.open_shell()
    command = client.run_command(shell, "PowerShell", ["x"])
    with pytest.raises(WinRMOperationTimeoutError):
        client.get_command_output_raw(shell, command)
    with pytest.raises(WSManFaultError, match="ended"):
        client.get_command_output(shell, command)
    assert nodes.stats()["win-0"]["by_action"]["Receive"] >= 2


def test_shells_and_commands_that_are_not_there(nodes: SimulatedNodes) -> None:
    client = connect(nodes)
    with pytest.raises(WSManFaultError, match="shell was not found"):
        client.run_command("11111111-1111-1111-1111-111111111111", "x")
    shell = client.open_shell()
    with pytest.raises(WSManFaultError, match="no command"):
        client.get_command_output_raw(shell, "11111111-1111-1111-1111-111111111111")
    client.close_shell(shell, close_session=False)
    with pytest.raises(WSManFaultError, match="shell was not found"):
        client.run_command(shell, "x")


def test_input_after_its_end(nodes: SimulatedNodes) -> None:
    client = connect(nodes)
    shell = client.open_shell()
    command = client.run_command(shell, "PowerShell", ["x"])
    client.send_command_input(shell, command, b"a", end=True)
    with pytest.raises(WSManFaultError, match="ended already"):
        client.send_command_input(shell, command, b"b", end=True)


def test_psrp_is_refused_in_words(nodes: SimulatedNodes) -> None:
    envelope = (
        '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" '
        'xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" '
        'xmlns:w="http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd"><s:Header>'
        "<a:Action>http://schemas.xmlsoap.org/ws/2004/09/transfer/Create</a:Action>"
        "<w:ResourceURI>http://schemas.microsoft.com/powershell/Microsoft.PowerShell</w:ResourceURI>"
        "</s:Header><s:Body/></s:Envelope>"
    )
    with pytest.raises(WSManFaultError, match="connection winrm"):
        connect(nodes).send_message(envelope)


@pytest.mark.parametrize("body", [b"no XML", b"<a/>", b"<!DOCTYPE a><a/>", b"\x00"])
def test_unreadable_messages(nodes: SimulatedNodes, body: bytes) -> None:
    reply = requests.post(nodes.url("win-0"), data=body, auth=("Administrator", DEFAULT_PASSWORD), timeout=5)
    assert reply.status_code == 400


def test_too_large_a_request(nodes: SimulatedNodes) -> None:
    client = connect(nodes)
    shell = client.open_shell()
    command = client.run_command(shell, "PowerShell", ["x"])
    with pytest.raises(WSManFaultError, match="MaxEnvelopeSizekb"):
        client.send_command_input(shell, command, b"x" * 400_000)


def test_many_nodes_on_one_port(tmp_path: Path) -> None:
    specs = [NodeSpec("win2022-0", "ltsc2022"), NodeSpec("win2025-0", "ltsc2025")]
    with SimulatedNodes(tmp_path, specs, shared_port=True) as running:
        assert running.port("win2022-0") == running.port("win2025-0")
        builds = []
        for name in running.names:
            assert running.url(name).endswith(f"/wsman/{name}")
            builds.append(session(running, name=name).read([read_system()])[0]["build"])
        assert builds == ["10.0.20348.1", "10.0.26100.1"]
        client = connect(running, name="win2022-0")
        client.transport.endpoint += "x"
        with pytest.raises(WinRMTransportError, match="404"):
            client.open_shell()
        assert running.stats()["win2022-0"]["requests"] == 6


def test_ports_count_up_from_the_first(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        first = probe.getsockname()[1]
    specs = [NodeSpec("a"), NodeSpec("b", port=first + 7), NodeSpec("c")]
    with SimulatedNodes(tmp_path, specs, port=first) as running:
        assert [running.port(name) - first for name in running.names] == [0, 7, 2]


def test_a_taken_port_is_named(tmp_path: Path, nodes: SimulatedNodes) -> None:
    other = SimulatedNodes(tmp_path / "other", [NodeSpec("b", port=nodes.port("win-0"))])
    with pytest.raises(OSError, match=f"port {nodes.port('win-0')} on 127.0.0.1 is taken"):
        other.start()


def get(nodes: SimulatedNodes, path: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{nodes.port('win-0')}{path}", timeout=5) as reply:
        return json.loads(reply.read())


def test_get_counts_nothing(nodes: SimulatedNodes) -> None:
    assert get(nodes, "/stats") == {"nodes": nodes.stats(), "mirror": {"requests": 0, "bytes_sent": 0, "by_path": {}}}
    assert get(nodes, "/api/v1/nodes")["items"] == []
    for path in ("/api/v1/nodes/win-0", "/api/v1/nodes/..%2fx", "/api/v1/nodes/.hidden", "/"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(nodes, path)
    assert nodes.stats()["win-0"]["requests"] == 0


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_parallel_clients(nodes: SimulatedNodes, transport: str) -> None:
    def ask(_: int) -> str:
        state: str = session(nodes, transport).read([read_service("containerd")])[0]["state"]
        return state

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(16))) == {"running"}
    assert nodes.stats()["win-0"]["requests"] == 16 * 6


def test_a_request_is_answered_at_once(nodes: SimulatedNodes) -> None:
    """With Python's stock handler a command took 132 ms, for Nagle's algorithm."""
    client = connect(nodes)
    request = standard_input({"mode": "read", "operations": [read_system()]})
    run(client, command_line(), request)
    started = time.perf_counter()
    for _ in range(5):
        run(client, command_line(), request)
    assert (time.perf_counter() - started) / 5 < 0.1
