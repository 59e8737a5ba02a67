"""What a session makes of a node's replies, whatever comes back."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.node import script
from lockstep.node.contract import ContractError, contract
from lockstep.node.errors import NodeError, ProtocolError
from lockstep.node.operations import (
    configure_service,
    content_of,
    read_file,
    read_system,
    restart_service,
    write_file,
)
from lockstep.node.session import Completed, Session
from lockstep.node.wire import clixml_text, command_line

SECRET = "correct horse battery staple"  # noqa: S105 - what must not be seen
BEGIN, END = contract()["markers"]["begin"], contract()["markers"]["end"]
NOTHING_THERE = {"op": "file.read", "ok": True, "exists": False}


class Wire:
    """A runner that answers with one reply and keeps what it was sent."""

    def __init__(self, stdout: str, stderr: str = "", returncode: int = 0) -> None:
        self.completed = Completed(returncode, stdout, stderr)
        self.sent: list[tuple[str, bytes]] = []

    def __call__(self, command: str, stdin: bytes) -> Completed:
        """Run."""
        self.sent.append((command, stdin))
        return self.completed


def _reply(response: dict[str, Any], newline: str = "\r\n") -> str:
    return newline.join([BEGIN, json.dumps({"contract": 1, **response}), END, ""])


def _read(*results: dict[str, Any]) -> str:
    return _reply({"mode": "read", "ok": True, "results": list(results)})


def test_a_request_is_one_line_of_ascii_and_the_command_is_always_the_same() -> None:
    wire = Wire(_read(NOTHING_THERE))
    Session(wire).read([read_file("C:\\größe.toml")])
    [(command, stdin)] = wire.sent
    prefix, encoded = command.rsplit(" ", 1)
    assert prefix == "PowerShell -NoProfile -NonInteractive -ExecutionPolicy Unrestricted -EncodedCommand"
    assert "$input" in base64.b64decode(encoded).decode("utf-16-le")
    assert command == command_line()
    assert stdin.count(b"\n") == 1
    sent = json.loads(stdin.decode("ascii"))
    assert sent["request"] == {"mode": "read", "operations": [{"op": "file.read", "path": "C:\\größe.toml"}]}
    assert sent["script"][0].startswith("param([Xml.XmlElement]$Element)")
    assert "\n".join(sent["script"]) == script.agent().rstrip("\n")


def test_what_is_not_of_the_contract_is_not_sent() -> None:
    wire = Wire(_read())
    with pytest.raises(ContractError):
        Session(wire).read([{"op": "file.delete", "path": "C:\\a"}])
    assert wire.sent == []


@given(st.binary(max_size=200))
def test_content_comes_back_as_it_was(data: bytes) -> None:
    found = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "content": base64.b64encode(data).decode()}
    [result] = Session(Wire(_read({"op": "file.read", "ok": True, "exists": True, **found}))).read([read_file("C:\\a")])
    assert content_of(result) == data
    [operation] = [write_file("C:\\a", data, replaces=data)]
    assert (operation["content"], operation["expect_sha256"]) == (found["content"], found["sha256"])


def test_a_reply_that_a_console_has_wrapped() -> None:
    text = json.dumps({"contract": 1, "mode": "read", "ok": True, "results": [NOTHING_THERE]})
    wrapped = "\r\n".join(text[i : i + 40] for i in range(0, len(text), 40))
    noise = "WARNING: a profile says good morning\r\n"
    wire = Wire(f"{noise}{BEGIN}\r\n{wrapped}\r\n{END}\r\n", "some progress", 1)
    assert Session(wire).read([read_file("C:\\a")]) == [NOTHING_THERE]


def test_a_file_that_is_not_there_has_no_content() -> None:
    assert content_of(NOTHING_THERE) is None


def test_applied_tells_whether_anything_changed() -> None:
    operations = [write_file("C:\\a", b"new", replaces=b"old", backup=True)]
    result = {"op": "file.write", "ok": True, "changed": False, "sha256": "0" * 64}
    for changed in (False, True):
        response = {"mode": "apply", "ok": True, "results": [{**result, "changed": changed}], "backups": ["C:\\a.bak"]}
        applied = Session(Wire(_reply(response))).apply("t", operations)
        assert (applied.changed, applied.backups) == (changed, ("C:\\a.bak",))
    restarted = {"op": "service.restart", "ok": True, "process_id": 4, "restarted_dependents": []}
    response = {"mode": "apply", "ok": True, "results": [restarted], "backups": []}
    assert Session(Wire(_reply(response))).apply("t", [restart_service("kubelet")]).changed


def test_a_failed_read_names_the_operation_and_the_nodes_own_words() -> None:
    denied = {"op": "file.read", "ok": False, "error": {"code": "denied", "message": "Access to the path is denied."}}
    with pytest.raises(NodeError) as error:
        Session(Wire(_read(denied))).read([read_file("C:\\k\\config.yaml")])
    assert str(error.value) == "file.read C:\\k\\config.yaml: Access to the path is denied. [denied]"
    assert (error.value.step, error.value.rolled_back) == (0, None)


def _failed_apply(**more: Any) -> NodeError:
    operations = [
        write_file("C:\\a", SECRET.encode(), replaces=None),
        configure_service(
            "kubelet", f"C:\\k\\kubelet.exe --token={SECRET}", replaces=f"C:\\k\\kubelet.exe --old={SECRET}"
        ),
        restart_service("kubelet"),
    ]
    response = {
        "mode": "apply",
        "ok": False,
        "results": [
            {"op": "file.write", "ok": True, "changed": True, "sha256": "0" * 64},
            {"op": "service.define", "ok": True, "changed": True, "created": False},
            {
                "op": "service.restart",
                "ok": False,
                "error": {
                    "code": "service_failed",
                    "message": "kubelet stopped 0.4 s after it had started, with exit code 1.",
                    "exit_code": 1,
                    "after_seconds": 0.4,
                },
            },
        ],
        "failed_step": 2,
        "rollback_errors": [],
        "rejected": ["C:\\a.rejected"],
        "rolled_back": True,
        **more,
    }
    with pytest.raises(NodeError) as error:
        Session(Wire(_reply(response))).apply("kubelet", operations)
    return error.value


def test_a_failed_apply_tells_the_step_the_reason_and_that_all_is_as_before() -> None:
    error = _failed_apply()
    assert str(error).splitlines() == [
        "service.restart kubelet: kubelet stopped 0.4 s after it had started, with exit code 1. [service_failed]",
        "Everything on the node is as it was before.",
        "What was rejected is kept in C:\\a.rejected",
    ]
    assert (error.step, error.code, error.exit_code, error.after_seconds) == (2, "service_failed", 1, 0.4)


def test_an_incomplete_rollback_tells_what_is_left() -> None:
    text = str(
        _failed_apply(rolled_back=False, rollback_errors=["restart kubelet: kubelet did not stop."], rejected=[])
    )
    assert "Not everything is as it was before." in text
    assert text.endswith("\n  restart kubelet: kubelet did not stop.")


def test_errors_hold_no_secret() -> None:
    error = _failed_apply()
    assert SECRET not in str(error) + repr(error)
    with pytest.raises(ProtocolError) as unheard:
        Session(Wire("nonsense")).apply("t", [write_file("C:\\a", SECRET.encode(), replaces=None)])
    assert SECRET not in str(unheard.value)
    assert base64.b64encode(SECRET.encode()).decode() not in str(unheard.value)


def test_a_failed_check_shows_what_the_program_printed() -> None:
    failed = {
        "op": "file.read",
        "ok": False,
        "error": {"code": "io", "message": "It failed.", "output": "level=fatal msg=no\nbye", "exit_code": 1},
    }
    with pytest.raises(NodeError) as error:
        Session(Wire(_read(failed))).read([read_file("C:\\a")])
    assert str(error.value).splitlines()[1:] == ["It printed:", "  level=fatal msg=no", "  bye"]


def test_a_refused_request() -> None:
    response = {"mode": "read", "ok": False, "results": [], "error": {"code": "invalid", "message": "No such thing."}}
    with pytest.raises(NodeError, match=r"^request: No such thing. \[invalid\]$"):
        Session(Wire(_reply(response))).read([read_system()])


CLIXML = (
    '#< CLIXML\r\n<Objs Version="1.1.0.1" xmlns="http://schemas.microsoft.com/powershell/2004/04">'
    '<Obj S="progress" RefId="0"><MS><PR N="Record"><AV>Preparing modules for first use.</AV></PR></MS></Obj>'
    '<S S="Error">Cannot run &lt;this&gt;: access is denied._x000D__x000A_</S>'
    '<S S="Error">    + FullyQualifiedErrorId : Denied_x000D__x000A_</S></Objs>'
)


@pytest.mark.parametrize(
    ("wire", "words"),
    [
        (Wire("", "", 1), ["exit status 1", "Nothing was printed at all"]),
        (Wire("", CLIXML, 1), ["standard error:", "Cannot run <this>: access is denied."]),
        (Wire("'PowerShell' is not recognized", "", 1), ["standard output:", "'PowerShell' is not recognized"]),
        (Wire("".join(f"line {n}\n" for n in range(99)), "", 1), ["line 11", "and 87 more lines"]),
        (Wire(f"{BEGIN}\n{{", "killed", 137), ["cut off", "killed"]),
        (Wire(f"{BEGIN}\n{{\n{END}\n"), ["no JSON"]),
        (Wire(_reply({"mode": "read", "ok": True, "results": []})), ["not of contract 1", "not every operation"]),
        (Wire(f"{BEGIN}\n[1]\n{END}"), ["not of contract 1", "expected object"]),
    ],
)
def test_what_is_no_reply_is_told_with_what_was_seen(wire: Wire, words: list[str]) -> None:
    with pytest.raises(ProtocolError) as error:
        Session(wire).read([read_system()])
    for word in words:
        assert word in str(error.value)
    assert "Preparing modules" not in str(error.value)


def test_clixml_beside_plain_text() -> None:
    assert clixml_text(f"before\r\n{CLIXML}after").splitlines() == [
        "before",
        "Cannot run <this>: access is denied.",
        "    + FullyQualifiedErrorId : Denied",
        "after",
    ]
