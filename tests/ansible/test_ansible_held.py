"""Whatever file of a node another process holds open, or Windows refuses: an error of the contract, told as one."""

from __future__ import annotations

from typing import Any

import pytest
from tests.ansible.nodes import MakeNode, Node, validated

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node_info.ahead import MODULES
from lockstep.ansible.node_info.questions import questions
from lockstep.node.contract import contract
from lockstep.node.operations import Operation

ARTIFACTS: list[dict[str, Any]] = [{"name": name, "version": "2.3.4"} for name in ("containerd",)]
GIVEN: dict[str, dict[str, Any]] = {
    "containerd_config": {"version": "2.3.4"},
    "kubelet_config": {"version": "1.36.1", "reserved": "auto"},
    "node_artifacts": {"artifacts": ARTIFACTS},
}
KUBELET = r"C:\k\kubelet.exe"


def read_by_the_play() -> list[Operation]:
    own = questions(validated("lockstep_node_info", {}))
    return [*own.values(), *(each for name, of in MODULES.items() for each in of(validated(name, GIVEN.get(name, {}))))]


def paths(node: Node, operations: list[Operation]) -> list[str]:
    """What the operations name, and every file that is on the node."""
    drive = node.engine.folder / "C"
    there = [f"C:\\{path.relative_to(drive)}".replace("/", "\\") for path in drive.rglob("*") if path.is_file()]
    return sorted({*there, *(each["path"] for each in operations if "path" in each)})


@pytest.mark.parametrize("kind", ["in_use", "denied"])
def test_what_the_whole_play_reads(kind: str, node: Node) -> None:
    operations, known, seen = read_by_the_play(), contract()["operations"], set()
    for path in paths(node, operations):
        node.engine.faults.set([{"kind": kind, "path": path}])
        for result in node.session.observe(operations):
            if not result["ok"]:
                seen.add(result["op"])
                assert result["error"]["code"] in known[result["op"]]["errors"], (path, result)
    assert {"file.read", "file.digest", "program.run"} <= seen


@pytest.mark.parametrize("kind", ["in_use", "denied"])
@pytest.mark.parametrize(
    ("module", "given"),
    [
        ("kubelet_config", [{"node_ip": "10.0.0.7"}, {"node_ip": "10.0.0.8"}]),
        ("containerd_config", [{"backup": True}]),
    ],
)
def test_a_task_says_what_the_node_said(
    kind: str, module: str, given: list[dict[str, Any]], make_node: MakeNode
) -> None:
    node = make_node()
    told: dict[str, TaskError] = {}
    for number, path in enumerate(paths(node, read_by_the_play())):
        node.engine.faults.set([{"kind": kind, "path": path}])
        try:
            node.planned(module, **given[number % len(given)])
        except TaskError as refused:
            told[path] = refused
    assert len(told) > 1, "nothing that is held keeps the task from its work"
    for path, error in told.items():
        assert "another version of lockstep" not in str(error), path
        assert error.facts["do"], path


def test_a_program_that_is_held_open_is_named_with_what_to_do(node: Node) -> None:
    node.engine.faults.add(kind="in_use", path=KUBELET)
    with pytest.raises(TaskError) as raised:
        node.planned("kubelet_config")
    told = raised.value
    assert told.message == "kubelet.exe cannot be run, so nothing was done"
    assert told.facts["node"].startswith("WIN2025-0 ")
    assert told.facts["it said"].startswith(f"{KUBELET} cannot be run: The process cannot access the file")
    assert "find out which process holds the file open" in told.facts["do"]


def test_a_refusal_speaks_of_the_path_s_access_list_too(node: Node) -> None:
    node.engine.faults.add(kind="denied", path=KUBELET)
    with pytest.raises(TaskError) as raised:
        node.planned("kubelet_config")
    assert raised.value.facts["it said"].startswith(f"{KUBELET} cannot be run: ")
    assert "icacls" in raised.value.facts["do"]


def test_a_file_that_is_no_program_is_told_as_one(node: Node) -> None:
    node.file(KUBELET).write_bytes(b"half of a download")
    with pytest.raises(TaskError, match=r"kubelet\.exe cannot be run") as raised:
        node.planned("kubelet_config")
    assert raised.value.facts["it said"].startswith(f"{KUBELET} cannot be run: ")
    assert "a program for this machine" in raised.value.facts["do"]
