"""Wrong input and wrong nodes: one clear error each, and the node as it was. One case a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from lockstep.ansible.errors import TaskError

if TYPE_CHECKING:
    from tests.ansible.nodes import MakeNode, Node

CASES = sorted((Path(__file__).parent / "cases" / "refused").glob("*.yaml"))


def state(node: Node) -> dict[str, Any]:
    """Everything that must be as before: files of the node's drives, and the services' definitions and states."""
    drives = [path for path in node.engine.folder.glob("?/**/*") if path.is_file()]
    services = {name: node.engine.services.get(name) for name in node.engine.services.names()}
    return {str(path): path.read_bytes() for path in drives if path.suffix not in (".rejected", ".log")} | {
        name: service and (service.binary_path, service.state, service.start_type) for name, service in services.items()
    }


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_refused(make_node: MakeNode, path: Path) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    node = make_node(**case.get("node", {}))
    for name, text in case.get("files", {}).items():
        target = node.file(name)
        if text is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
    for name, line in case.get("services", {}).items():
        if line is None:
            node.remove_service(name)
        else:
            node.engine.services.configure(name, line)
    registry = node.engine.folder / "registry.json"
    registry.write_text(json.dumps({**json.loads(registry.read_text()), **case.get("registry", {})}))
    for fault in case.get("faults", ()):
        node.engine.faults.add(**fault)
    before = state(node)
    with pytest.raises(TaskError) as raised:
        node.planned(case["module"], **case.get("arguments", {}))
    text = str(raised.value)
    told = " ".join(text.split())
    for expected in case["says"]:
        assert " ".join(expected.split()) in told, text
    for unwanted in case.get("says_not", ()):
        assert unwanted not in told, text
    assert all(len(line) <= 80 or len(line.split()) == 1 for line in text.splitlines()), text
    assert case.get("asks", True) or node.requests == 0
    assert raised.value.result.get("rolled_back") is case.get("rolled_back")
    assert state(node) == before
