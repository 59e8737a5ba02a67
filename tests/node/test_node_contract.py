"""The contract's own check agrees with a JSON Schema library, and holds what a schema cannot say."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from tests.node.support import cases

from lockstep.node import operations as make
from lockstep.node.contract import ContractError, check_request, check_response, contract
from lockstep.node.operations import (
    Program,
    check_program,
    configure_service,
    read_file,
    read_service,
    read_system,
    read_transaction,
    remove_file,
    restart_service,
    run_program,
    write_file,
)

READS = [
    read_system(),
    read_file("C:\\a.toml"),
    read_file("C:\\a.toml", max_bytes=10),
    read_service("containerd"),
    run_program(Program("C:\\a.exe"), ["version"]),
    run_program(Program(service="containerd", sibling="ctr.exe")),
    read_transaction("containerd"),
    make.read_machine(),
    make.digest_file("C:\\a.exe"),
    make.read_folder("C:\\etc"),
    make.read_registry("HKLM\\SOFTWARE\\Lockstep", "a"),
    make.read_features(["Containers"]),
    make.read_firewall(["kubelet"]),
    make.read_defender(),
    make.read_power(),
    make.read_certificates("C:\\pki\\kubelet.crt"),
    make.read_store("C:\\ProgramData\\lockstep\\store"),
]
STORE = "C:\\ProgramData\\lockstep\\store"
DIGEST = 64 * "0"
CHANGES = [
    write_file("C:\\a.toml", b"new", replaces=None),
    write_file("C:\\a.toml", b"new", replaces=b"old", backup=True),
    remove_file("C:\\a.toml", replaces=b"old"),
    configure_service("kubelet", "C:\\k\\kubelet.exe --v=2", replaces="C:\\k\\kubelet.exe"),
    restart_service("kubelet", timeout_seconds=5, settle_seconds=0.5),
    check_program(Program(service="containerd"), ["plugins", "ls"], must_contain=["io.containerd"]),
    make.define_service("kubelet", {"binary_path": "C:\\k\\kubelet.exe", "start_type": "delayed"}, replaces=None),
    make.stop_service("kubelet"),
    make.restart_system("a marker", reason="Windows features"),
    make.write_registry("HKLM\\SOFTWARE\\Lockstep", "a", "multi_string", ["x", "y"], replaces=None),
    make.remove_registry("HKLM\\SOFTWARE\\Lockstep", "a", replaces=7),
    make.ensure_folder("C:\\etc\\kubernetes", "D:PAI(A;OICI;FA;;;SY)"),
    make.install_features(["Containers"], "\\\\server\\sources\\sxs"),
    make.write_firewall("kubelet", "kubelet", protocol="tcp", local_ports=["10250"]),
    make.remove_firewall("kubelet"),
    make.exclude_from_defender(["C:\\k\\kubelet.exe"], []),
    make.write_power("8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c"),
    make.add_to_store(STORE, "kubelet", "1.36.1", digest=DIGEST, source={"url": "http://x/kubelet.exe"}, format="file"),
    make.upload_to_store(STORE, DIGEST, 0, b"piece"),
    make.prune_store(STORE, []),
    make.install_file("C:\\k\\kubelet.exe", STORE, "kubelet-1.36.1-000000000000", "kubelet.exe", replaces=None),
]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5000),
    st.just(""),
    st.just("C:\\x"),
    st.just("file.read"),
    st.just([]),
    st.just({}),
)


def _schema(part: Mapping[str, Any]) -> Draft7Validator:
    return Draft7Validator({**part, "definitions": contract()["definitions"]})


def _refuses(request: Mapping[str, Any]) -> bool:
    try:
        check_request(request)
    except ContractError:
        return True
    return False


def test_the_contract_is_made_of_valid_schemas() -> None:
    for definition in contract()["operations"].values():
        Draft7Validator.check_schema(definition["arguments"])
        Draft7Validator.check_schema(definition["result"])
        assert set(definition["errors"]) <= set(contract()["errors"])
    for name in ("request", "response"):
        Draft7Validator.check_schema(contract()[name])
    assert set(contract()["errors"]) == set(contract()["definitions"]["error"]["properties"]["code"]["enum"])


def test_every_operation_can_be_made() -> None:
    made = {operation["op"]: "read" if operation in READS else "apply" for operation in READS + CHANGES}
    assert made == {op: definition["mode"] for op, definition in contract()["operations"].items()}
    check_request({"mode": "read", "operations": READS})
    check_request({"mode": "apply", "transaction": "t", "operations": CHANGES})


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(READS + CHANGES), st.data())
def test_arguments_are_checked_as_the_schema_has_them(operation: dict[str, Any], data: st.DataObject) -> None:
    changed = copy.deepcopy(operation)
    key = data.draw(st.sampled_from([*changed, "surplus"]))
    if data.draw(st.booleans()):
        changed.pop(key, None)
    else:
        changed[key] = data.draw(VALUES)
    if changed.get("op") != operation["op"]:
        return
    definition = contract()["operations"][operation["op"]]
    mode = {"mode": definition["mode"], **({"transaction": "t"} if definition["mode"] == "apply" else {})}
    if not _schema(definition["arguments"]).is_valid(changed):
        assert _refuses({**mode, "operations": [changed]}), changed
    elif operation["op"].startswith("program."):
        named = ("path" in changed) != ("service" in changed) and not ("sibling" in changed and "path" in changed)
        assert _refuses({**mode, "operations": [changed]}) == (not named), changed
    else:
        assert not _refuses({**mode, "operations": [changed]}), changed


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"mode": "read", "operations": []}, "must not be empty"),
        ({"mode": "write", "operations": READS}, "expected one of read, apply"),
        ({"mode": "read", "operations": CHANGES}, r"operations\[0\]: file.write belongs to mode apply"),
        ({"mode": "apply", "transaction": "t", "operations": READS}, "system.read belongs to mode read"),
        ({"mode": "apply", "operations": CHANGES}, "`apply` needs `transaction`"),
        ({"mode": "read", "transaction": "t", "operations": READS}, "`read` must not have one"),
        ({"mode": "apply", "transaction": "Näme", "operations": CHANGES}, "request.transaction: does not match"),
        ({"mode": "apply", "transaction": "t\n", "operations": CHANGES}, "request.transaction: does not match"),
        (
            {"mode": "read", "operations": [{"op": "file.delete"}]},
            "unknown operation 'file.delete'; known: system.read, ",
        ),
        ({"mode": "read", "operations": [{}]}, r"request.operations\[0\]: lacks op"),
        ({"mode": "read", "operations": [read_file("relative.toml")]}, r"operations\[0\].path: does not match"),
        ({"mode": "read", "operations": [run_program(Program())]}, "needs either `path` or `service`"),
        ({"mode": "read", "operations": [run_program(Program("C:\\a.exe", sibling="b"))]}, "`sibling` goes with"),
    ],
)
def test_requests_that_cannot_be_sent(request_: dict[str, Any], words: str) -> None:
    with pytest.raises(ContractError, match=words):
        check_request(request_)


READ = {"mode": "read", "operations": [read_transaction("t"), read_file("C:\\a")]}
ANSWER: dict[str, Any] = {
    "contract": 1,
    "mode": "read",
    "ok": True,
    "results": [
        {"op": "transaction.read", "ok": True, "pending": False},
        {"op": "file.read", "ok": False, "error": {"code": "denied", "message": "Access to the path is denied."}},
    ],
}


def test_a_response_of_the_contract() -> None:
    check_response(READ, ANSWER)
    assert _schema(contract()["response"]).is_valid(ANSWER)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"contract": 2}, "response.contract: expected 1"),
        ({"mode": "apply"}, "mode is apply, but read was asked for"),
        ({"results": ANSWER["results"][:1]}, "not every operation has a result"),
        ({"results": ANSWER["results"] * 2}, "4 results for 2 operations"),
        ({"results": list(reversed(ANSWER["results"]))}, r"results\[0\]: is of file.read, but transaction.read was"),
        ({"results": [{"op": "transaction.read", "ok": True}, ANSWER["results"][1]]}, r"results\[0\]: lacks pending"),
        ({"ok": False}, "neither error nor failed_step says why"),
        ({"ok": False, "failed_step": 0}, "failed_step does not name"),
        ({"extra": 1}, "does not know extra"),
    ],
)
def test_responses_that_are_not_of_the_contract(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ContractError, match=words):
        check_response(READ, {**ANSWER, **change})


def test_an_error_that_the_operation_lacks() -> None:
    answer = copy.deepcopy(ANSWER)
    answer["results"][1]["error"]["code"] = "service_failed"
    with pytest.raises(ContractError, match=r"file\.read has no error 'service_failed'"):
        check_response(READ, answer)


@pytest.mark.parametrize("name", cases.all_names())
def test_cases_ask_for_what_the_contract_has(name: str) -> None:
    request = cases.load(name).request
    assert _refuses(request) == (name.startswith("invalid-") and name != "invalid-content")


def test_no_schema_library_is_imported() -> None:
    # Every Ansible worker imports this.
    code = "import sys, lockstep.node.session; print(any(name.startswith('jsonschema') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_what_the_agent_makes_of_windows_words_may_come_of_any_operation() -> None:
    text = files("lockstep.node").joinpath("agent", "errors.ps1").read_text("ascii")
    codes = set(re.findall(r"\$code = '(\w+)'", text))
    assert codes == set(contract()["errors_of_any"]) - {"invalid"}
