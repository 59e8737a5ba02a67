"""Real containerd swapped while it is a service: upgraded, answered, refused where it is none, taken back."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.node.support.standin import Node
from tests.standin import build, nodes

from lockstep.ansible.arguments import accepted
from lockstep.ansible.artifacts.install import install
from lockstep.ansible.errors import TaskError
from lockstep.ansible.spec import argument_spec
from lockstep.artifacts.web import fetch
from lockstep.catalog.artifacts import artifact
from lockstep.node.session import Session
from lockstep.sim import NodeSpec

pytestmark = [pytest.mark.windows, pytest.mark.slow]

SPEC = argument_spec(Path(__file__).parents[2] / "library" / "node_artifacts.py")
OLD, NEW, WRONG = "1.7.29", "2.3.4", "2.3.5"
CTR = r"C:\Program Files\containerd\ctr.exe"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the standard library has it
        del format, args


class Mirror:
    """Releases of real programs, at the paths that they have at their projects."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def release(self, name: str, version: str, programs: Mapping[str, Path]) -> None:
        """Publish an archive of these programs, by their names on the node, and its SHA-256."""
        facts = artifact(name, version)
        place = self.folder / urlsplit(facts.url).path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
            for inside, outside in facts.files:
                archive.add(programs[outside], inside)
        place.write_bytes(buffer.getvalue())
        digest = hashlib.sha256(buffer.getvalue()).hexdigest()
        assert facts.sums
        (self.folder / urlsplit(facts.sums.url).path.lstrip("/")).write_text(f"{digest}  {place.name}\n")


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[Mirror]:
    made = Mirror(tmp_path / "mirror")
    programs = Path(os.environ[nodes.PROGRAMS])
    for version in (OLD, NEW):
        containerd, ctr = (build.containerd(programs, version, name) for name in build.CONTAINERD)
        # There is no shim to run without HCS; what matters is that it is a file of the release.
        names = {"containerd.exe": containerd, "ctr.exe": ctr, "containerd-shim-runhcs-v1.exe": ctr}
        made.release("containerd", version, names)
    crictl = build.crictl(programs)
    made.release("containerd", WRONG, dict.fromkeys(names, crictl))
    thread = threading.Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@pytest.fixture
def node(templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    monkeypatch.setenv(nodes.TEMPLATES, str(templates))
    spec = NodeSpec("swapped-0", "ltsc2022", OLD, "1.34.1")
    try:
        yield nodes.start(tmp_path / "nodes", spec)
    finally:
        nodes.stop(tmp_path / "nodes" / spec.name)


def put(node: Node, mirror: Mirror, version: str) -> dict[str, Any]:
    given = {"mirror": mirror.url, "artifacts": [{"name": "containerd", "version": version}]}
    return install(Session(node.run), accepted("node_artifacts", SPEC, given), check_mode=False, fetch=fetch)


def runs(node: Node) -> str:
    """What the service answers as its version."""
    _, _, server = nodes.until_it_ends_well(node, CTR, "version").decode().partition("Server:")
    return next(line.split()[-1].removeprefix("v") for line in server.splitlines() if "Version:" in line)


def test_a_running_containerd_is_upgraded_and_taken_back(node: Node, mirror: Mirror) -> None:
    put(node, mirror, OLD)
    assert runs(node) == OLD
    assert not put(node, mirror, OLD)["changed"]

    upgraded = put(node, mirror, NEW)
    assert upgraded["artifacts"][0]["from_version"] == OLD
    assert upgraded["restarted"] == ["containerd"]
    assert runs(node) == NEW
    assert not put(node, mirror, NEW)["changed"]

    with pytest.raises(TaskError) as raised:
        put(node, mirror, WRONG)
    assert f"what was fetched as containerd {WRONG} does not say that it is {WRONG}" in str(raised.value)
    assert raised.value.result["rolled_back"]
    assert runs(node) == NEW

    back = put(node, mirror, OLD)
    assert [step for step in back["steps"] if step.startswith("fetch")] == []
    assert runs(node) == OLD
    assert not put(node, mirror, OLD)["changed"]
