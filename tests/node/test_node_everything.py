"""All that a play asks of a bare node in its first request, answered by a real PowerShell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.node.support import standin
from tests.node.support.linux import LinuxBench

from lockstep.ansible.arguments import accepted
from lockstep.ansible.node_info.ahead import MODULES, asked_ahead, specs
from lockstep.ansible.node_info.observe import observe
from lockstep.ansible.spec import argument_spec
from lockstep.node.session import Completed, Session

ROOT = Path(__file__).parents[2]
ARTIFACTS = [{"name": "containerd", "version": "2.3.4"}, {"name": "kubelet", "version": "1.36.1"}]

pytestmark = pytest.mark.windows


@pytest.fixture(params=["linux", "stand-in"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """A node of each kind."""
    if request.param == "linux":
        yield LinuxBench(request.getfixturevalue("host"), tmp_path)
    else:
        yield request.getfixturevalue("node")


def test_one_request_answers_everything(bench: LinuxBench | standin.Node) -> None:
    asked: list[int] = []

    def run(command: str, stdin: bytes) -> Completed:
        asked.append(len(json.loads(stdin)["request"]["operations"]))
        completed: Completed = bench.run(command, stdin)
        return completed

    tasks: list[tuple[str, dict[str, Any]]] = [
        (module, {"artifacts": ARTIFACTS} if module == "node_artifacts" else {}) for module in MODULES
    ]
    ahead = asked_ahead(tasks, specs(ROOT / "library"))
    given = accepted("lockstep_node_info", argument_spec(ROOT / "library" / "lockstep_node_info.py"), {})
    node = observe(Session(run), {**given, "ahead": ahead}, check_mode=False)["node"]
    assert len(asked) == 1
    assert asked[0] > len(ahead)
    assert node["windows"]["build"].startswith("10.0.")
    # PowerShell for Linux knows of no drive C:.
    assert set(node["errors"]) == ({"store"} if isinstance(bench, LinuxBench) else set())
