"""The emulated agent: the contract is kept, nothing half-done stays, the error says what happened."""

from __future__ import annotations

import base64
import json
from functools import cache, reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.node.contract import contract
from lockstep.node.errors import NodeError
from lockstep.node.operations import (
    Program,
    check_program,
    configure_service,
    content_of,
    read_file,
    read_service,
    remove_file,
    restart_service,
    run_program,
    sha256,
    write_file,
)
from lockstep.sim import EmulatedEngine, NodeSpec, StateError

OPERATIONS = contract()["operations"]
PATHS = [
    "C:\\plain.txt",
    "C:\\Program Files\\a b\\[x] $y `z'.toml",
    "C:\\\u00e4\u00f6\u00fc\\\u6f22\u5b57.txt",
    "C:\\deep\\er\\and\\deeper\\file",
]
CONTAINERD = Program(service="containerd")


@cache
def validator(*path: str) -> jsonschema.Draft7Validator:
    schema = reduce(lambda part, key: part[key], path, contract())
    return jsonschema.Draft7Validator({**schema, "definitions": contract()["definitions"]})


def conforms(document: Any, *path: str) -> None:
    """Hold a document to the part of the contract at a path, by a validator that is not the project's own."""
    validator(*path).validate(document)


@pytest.mark.parametrize("content", [b"", b"text\r\n", bytes(range(256)) * 20_000], ids=["empty", "text", "5 MB"])
@pytest.mark.parametrize("path", PATHS)
def test_files_of_every_kind(path: str, content: bytes, engine: EmulatedEngine) -> None:
    session = engine.session()
    assert content_of(session.read([read_file(path)])[0]) is None
    assert session.apply("test", [write_file(path, content, replaces=None)]).changed
    result = session.read([read_file(path)])[0]
    assert content_of(result) == content
    assert (result["size"], result["sha256"]) == (len(content), sha256(content))
    assert not session.apply("test", [write_file(path, content, replaces=content)]).changed
    assert session.apply("test", [remove_file(path, replaces=content)]).changed
    assert content_of(session.read([read_file(path)])[0]) is None
    assert not session.apply("test", [remove_file(path, replaces=None)]).changed


def test_names_are_found_whatever_their_case(engine: EmulatedEngine) -> None:
    session = engine.session()
    session.apply("test", [write_file("C:\\Folder\\File.txt", b"1", replaces=None)])
    session.apply("test", [write_file("c:\\FOLDER\\file.TXT", b"2", replaces=b"1")])
    assert [path.name for path in (engine.folder / "C" / "Folder").iterdir()] == ["File.txt"]
    assert content_of(session.read([read_file("C:/folder/FILE.txt".replace("/", "\\"))])[0]) == b"2"


def test_backups(engine: EmulatedEngine) -> None:
    session = engine.session()
    session.apply("test", [write_file(PATHS[1], b"1", replaces=None, backup=True)])
    backups: list[str] = []
    for former, content in ((b"1", b"2"), (b"2", b"3")):
        backups += session.apply("test", [write_file(PATHS[1], content, replaces=former, backup=True)]).backups
    assert len(set(backups)) == 2
    assert [engine.machine.disk.read(path) for path in backups] == [b"1", b"2"]


def failed(engine: EmulatedEngine, *operations: dict[str, Any]) -> NodeError:
    with pytest.raises(NodeError) as caught:
        engine.session().apply("test", list(operations))
    return caught.value


@pytest.mark.parametrize("there", [None, b"someone else's"])
def test_a_conflict_overwrites_nothing(there: bytes | None, engine: EmulatedEngine) -> None:
    if there is not None:
        engine.machine.disk.locate(PATHS[0]).write_bytes(there)
    for operation in (write_file(PATHS[0], b"new", replaces=b"old"), remove_file(PATHS[0], replaces=b"old")):
        if there is None and operation["op"] == "file.remove":
            continue
        error = failed(engine, operation)
        assert (error.code, error.rolled_back) == ("conflict", True)
        assert engine.machine.disk.read(PATHS[0]) == there


def test_a_folder_is_no_file(engine: EmulatedEngine) -> None:
    assert failed(engine, write_file("C:\\Windows", b"", replaces=None)).code == "is_directory"
    with pytest.raises(NodeError, match="is a folder"):
        engine.session().read([read_file("C:\\Windows")])


@pytest.mark.parametrize("path", ["C:\\a:b", "C:\\a|b", "C:\\..\\..\\x", "D:\\x"])
def test_paths_cannot_leave_the_drive(path: str, engine: EmulatedEngine) -> None:
    if ".." in path:
        engine.session().apply("test", [write_file(path, b"1", replaces=None)])
        assert (engine.folder / "C" / "x").read_bytes() == b"1"
        return
    assert failed(engine, write_file(path, b"1", replaces=None)).code == "io"


def test_large_files_are_refused_when_asked(engine: EmulatedEngine) -> None:
    engine.machine.disk.locate(PATHS[0]).write_bytes(b"12345")
    with pytest.raises(NodeError, match="has 5 bytes; at most 4 are read") as caught:
        engine.session().read([read_file(PATHS[0], max_bytes=4)])
    assert caught.value.code == "too_large"


def test_a_failure_puts_everything_back(engine: EmulatedEngine) -> None:
    session = engine.session()
    line = session.read([read_service("containerd")])[0]["binary_path"]
    session.apply("test", [write_file(PATHS[0], b"before", replaces=None)])
    error = failed(
        engine,
        write_file(PATHS[0], b"after", replaces=b"before"),
        write_file(PATHS[1], b"new", replaces=None),
        configure_service("containerd", f"{line} --log-level debug", replaces=line),
        restart_service("containerd"),
        check_program(CONTAINERD, ["--version"], must_contain=["v9.9.9"], timeout_seconds=2),
    )
    assert (error.step, error.code, error.rolled_back) == (4, "check_failed", True)
    assert error.message.endswith("does not show v9.9.9, after 4 attempts in 2 s.")
    assert error.exit_code == 0
    assert "v2.3.4" in error.output
    assert engine.machine.disk.read(PATHS[0]) == b"before"
    assert not engine.machine.disk.exists(PATHS[1])
    assert error.rejected == (f"{PATHS[1]}.rejected", f"{PATHS[0]}.rejected")
    assert engine.machine.disk.read(f"{PATHS[0]}.rejected") == b"after"
    service = session.read([read_service("containerd")])[0]
    assert (service["binary_path"], service["state"]) == (line, "running")


def test_a_stopped_service_is_stopped_again(engine: EmulatedEngine) -> None:
    engine.services.stop("containerd")
    error = failed(
        engine,
        restart_service("containerd"),
        check_program(Program(path="C:\\none.exe"), must_contain=[], timeout_seconds=1),
    )
    assert (error.code, error.rolled_back) == ("missing", True)
    assert engine.session().read([read_service("containerd")])[0]["state"] == "stopped"


def test_services_and_programs_that_are_not_there(engine: EmulatedEngine) -> None:
    session = engine.session()
    assert session.read([read_service("none")])[0] == {"op": "service.read", "ok": True, "exists": False}
    for program in (Program(path="C:\\none.exe"), Program(service="none"), Program(service="kubelet", sibling="x.exe")):
        assert session.read([run_program(program)])[0]["found"] is False
    for operation in (restart_service("none"), configure_service("none", "x", replaces="y")):
        assert failed(engine, operation).code == "missing"


def test_a_command_line_that_somebody_changed(engine: EmulatedEngine) -> None:
    error = failed(engine, configure_service("containerd", "new", replaces="old"))
    assert error.code == "conflict"
    assert "old" not in error.message


def test_content_stays_out_of_errors_and_journal(engine: EmulatedEngine) -> None:
    secret = b"secret-in-a-file"
    error = failed(
        engine,
        write_file(PATHS[0], secret, replaces=None),
        check_program(Program(path="C:\\none.exe"), must_contain=[], timeout_seconds=1),
    )
    encoded = base64.b64encode(secret).decode()
    for text in (str(error), json.dumps(engine.steps.labels), (engine.folder / "services.json").read_text("utf-8")):
        assert secret.decode() not in text
        assert encoded not in text


REFUSED: list[Any] = [
    {},
    {"mode": "read"},
    {"mode": "read", "operations": []},
    {"mode": "read", "operations": [{"op": "system.write"}]},
    {"mode": "read", "operations": [{"op": "file.remove", "path": "C:\\x", "expect_sha256": None}]},
    {"mode": "apply", "operations": [restart_service("containerd")]},
    {"mode": "apply", "transaction": "../x", "operations": [restart_service("containerd")]},
    {"mode": "read", "operations": [{"op": "file.read", "path": "relative"}]},
    {"mode": "read", "operations": [{"op": "file.read", "path": "C:\\x", "encoding": "utf-8"}]},
    {"mode": "apply", "transaction": "t", "operations": [{**write_file("C:\\x", b"", replaces=None), "content": "§"}]},
]


@pytest.mark.parametrize("request_", REFUSED, ids=json.dumps)
def test_requests_that_are_not_of_the_contract(request_: Any, engine: EmulatedEngine) -> None:
    before = sorted(engine.folder.rglob("*"))
    response = engine.execute_request(request_)
    conforms(response, "response")
    assert response["ok"] is False
    assert response["error"]["code"] == "invalid"
    assert sorted(engine.folder.rglob("*")) == before


operations = st.lists(
    st.one_of(
        st.builds(read_file, st.sampled_from([*PATHS, "C:\\Windows", "D:\\x"])),
        st.builds(read_service, st.sampled_from(["containerd", "kubelet", "none"])),
        st.builds(
            run_program,
            st.builds(Program, service=st.sampled_from(["containerd", "none"])),
            st.sampled_from([["--version"], ["config", "dump"], ["x"], []]),
        ),
        st.just({"op": "system.read"}),
        st.just({"op": "transaction.read", "name": "test"}),
    ),
    min_size=1,
    max_size=4,
)
changes = st.lists(
    st.one_of(
        st.builds(
            write_file,
            st.sampled_from([*PATHS, "C:\\Windows", "C:\\Program Files\\containerd\\config.toml"]),
            st.sampled_from([b"", b"1", b"[broken"]),
            replaces=st.sampled_from([None, b"", b"1", b"2"]),
            backup=st.booleans(),
        ),
        st.builds(remove_file, st.sampled_from(PATHS), replaces=st.sampled_from([None, b"1"])),
        st.builds(restart_service, st.sampled_from(["containerd", "kubelet", "none"])),
        st.builds(
            configure_service,
            st.sampled_from(["containerd", "none"]),
            st.just("x"),
            replaces=st.sampled_from(["x", "y"]),
        ),
        st.just(check_program(CONTAINERD, ["--version"], must_contain=["containerd"], timeout_seconds=1)),
    ),
    min_size=1,
    max_size=5,
)


@given(reads=operations, applies=st.lists(changes, max_size=3))
@settings(max_examples=60, deadline=None)
def test_every_response_is_of_the_contract(reads: list[Any], applies: list[list[Any]]) -> None:
    with TemporaryDirectory() as folder:
        engine = EmulatedEngine(Path(folder) / "node", NodeSpec("node"))
        requests = [{"mode": "apply", "transaction": "test", "operations": change} for change in applies]
        for request in [*requests, {"mode": "read", "operations": reads}]:
            response = json.loads(json.dumps(engine.execute_request(request)))
            conforms(response, "response")
            for result in response["results"]:
                definition = OPERATIONS[result["op"]]
                if result["ok"]:
                    conforms(result, "operations", result["op"], "result")
                else:
                    conforms(result, "definitions", "failed_result")
                    assert result["error"]["code"] in definition["errors"]
            if request["mode"] == "apply":
                left = [path.name for path in (engine.folder / "C").rglob("*.lockstep-*")]
                assert left == []
                assert not engine.machine.disk.exists("C:\\ProgramData\\lockstep\\transactions\\test.json")


def test_a_state_folder_of_another_node(engine: EmulatedEngine) -> None:
    with pytest.raises(StateError, match=r"made with build 10\.0\.26100\.1, not 10\.0\.20348\.1: give another"):
        EmulatedEngine(engine.folder, NodeSpec("node", "20348"))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (NodeSpec("node", "ltcs2022"), "ltcs2022"),
        (NodeSpec("node", containerd="2.3"), "2.3"),
        (NodeSpec("node", containerd="0.9.1"), "0.9.1"),
        (NodeSpec("node", kubernetes="latest"), "latest"),
        (NodeSpec("node", kubernetes="1.12.0"), "1.12"),
        (NodeSpec("Node"), "is no node name"),
        (NodeSpec("node", config_toml="some"), "none or default"),
    ],
)
def test_a_node_that_cannot_be(spec: NodeSpec, words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=words):
        EmulatedEngine(tmp_path / "node", spec)
    assert not (tmp_path / "node").exists(), "nothing half-made is left"
