"""`lockstep sim` as a program: it starts, says so, ends; what is wrong is one line."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from lockstep.cli.main import main
from lockstep.sim import NodeSpec, SimulatedNodes


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def start(*arguments: str) -> subprocess.Popen[str]:
    code = "import sys; from lockstep.cli.main import main; sys.exit(main())"
    return subprocess.Popen(
        [sys.executable, "-c", code, "sim", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told(number: signal.Signals, tmp_path: Path) -> None:
    port, pid = free_port(), tmp_path / "pid"
    arguments = ["--state", str(tmp_path / "state"), "--port", str(port), "--pid-file", str(pid)]
    with start(*arguments, "--name", "win2022-0", "--build", "ltsc2022") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"win2022-0 ready at http://127.0.0.1:{port}/wsman\n"
        deadline = time.monotonic() + 5
        while not pid.exists() or not pid.read_text():
            assert time.monotonic() < deadline
        assert int(pid.read_text()) == process.pid
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=5) as reply:
            assert list(json.loads(reply.read())["nodes"]) == ["win2022-0"]
        process.send_signal(number)
        assert process.wait(5) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert not pid.exists()
    assert json.loads((tmp_path / "state/win2022-0/node.json").read_text())["build"] == "10.0.20348.1"


def test_faults_that_cannot_be_read_are_told_on_standard_error(tmp_path: Path) -> None:
    state, port = tmp_path / "state", free_port()
    with start("--state", str(state), "--port", str(port)) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        (state / "win2025-0" / "faults.json").write_text("[{", encoding="utf-8")
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/wsman", data=b"x", timeout=5)
        process.terminate()
        _, told = process.communicate(timeout=5)
        assert told.count("faults.json: Expecting property name") == len(told.splitlines()) == 1


def test_many_nodes_from_a_file(tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.yaml"
    nodes.write_text("- name: a\n- {name: b, build: 20348, containerd: 1.7.35, kubernetes: 1.33.0}\n")
    arguments = ["--state", str(tmp_path / "state"), "--port", str(free_port()), "--nodes", str(nodes), "--shared-port"]
    with start(*arguments, "--node", "c=1809,2.0.14,1.34.1") as process:
        assert process.stdout is not None
        assert [process.stdout.readline().split()[0] for _ in range(3)] == ["c", "a", "b"]
        process.terminate()
        assert process.wait(5) == 0
    facts: dict[str, Any] = json.loads((tmp_path / "state/b/node.json").read_text())
    assert (facts["build"], facts["containerd"], facts["kubernetes"]) == ("10.0.20348.1", "1.7.35", "1.33.0")


def test_bare_nodes_and_their_machines(tmp_path: Path) -> None:
    arguments = ["--state", str(tmp_path / "state"), "--port", "0", "--bare", "--machine", "processors=2"]
    with start(*arguments, "--node", "a=26100,2.3.4,1.36.1,memory=8Gi,nested=false") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("a ready at")
        process.terminate()
        assert process.wait(5) == 0
    machine = json.loads((tmp_path / "state/a/machine.json").read_text())
    assert (machine["memory"], machine["processors"], machine["nested"]) == (8 * 2**30, 2, False)
    assert not (tmp_path / "state/a/C/k").exists()


WRONG = {
    "unknown build": (["--build", "ltcs2022"], "unknown Windows build 'ltcs2022'"),
    "no version": (["--containerd", "2.3"], "2.3"),
    "unknown series": (["--containerd", "3.0.0"], "containerd 3.0.0 is of no known series"),
    "unknown minor": (["--kubernetes", "2.0.0"], "Kubernetes 2.0 is not known"),
    "node without versions": (["--node", "a=26100"], "expected NAME=BUILD,CONTAINERD,KUBERNETES[,PORT]"),
    "node with a word for a port": (["--node", "a=26100,2.3.4,1.36.1,http"], "expected NAME="),
    "no such setting": (["--machine", "ram=8Gi"], "ram is no setting of a machine"),
    "a setting without a value": (["--machine", "memory"], "no SETTING=VALUE"),
    "a wrong setting of a node": (["--node", "a=26100,2.3.4,1.36.1,memory=much"], "expected a size"),
    "a name twice": (["--node", "a=26100,2.3.4,1.36.1"] * 2, "names, each its own"),
    "a name that is none": (["--name", "Win_1"], "is no node name"),
    "engine without a command": (["--engine", "powershell"], "go together"),
    "command without engine": (["--powershell", "pwsh"], "go together"),
    "command that cannot be read": (["--engine", "powershell", "--powershell", "'"], "cannot be read"),
    "password with a colon": (["--password", "a:b"], "no colon"),
    "address of another machine": (["--address", "192.0.2.1"], "cannot listen"),
    "no such file": (["--nodes", "/none.yaml"], "cannot be read"),
}


@pytest.mark.parametrize(("arguments", "words"), WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments(arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "--state", str(tmp_path / "state"), "--port", str(free_port()), *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("lockstep: ")
    assert words in printed.err
    assert "Traceback" not in printed.err


FILES = {
    "no list": "name: a",
    "empty": "",
    "no name": "- build: 26100",
    "unknown key": "- {name: a, biuld: 26100}",
    "a float for a version": "- {name: a, kubernetes: 1.36}",
    "a word for a port": "- {name: a, port: http}",
    "not YAML": "[",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES.keys())
def test_wrong_nodes_files(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "nodes.yaml"
    path.write_text(text)
    assert main(["sim", "--state", str(tmp_path / "state"), "--nodes", str(path)]) == 2
    assert str(path) in capsys.readouterr().err
    assert not (tmp_path / "state").exists()


def test_a_taken_port(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SimulatedNodes(tmp_path / "one", [NodeSpec("a")]) as nodes:
        assert main(["sim", "--state", str(tmp_path / "two"), "--port", str(nodes.port("a"))]) == 2
    assert f"port {nodes.port('a')} on 127.0.0.1 is taken" in capsys.readouterr().err


def test_a_state_of_other_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SimulatedNodes(tmp_path, [NodeSpec("a")]):
        pass
    assert main(["sim", "--state", str(tmp_path), "--name", "a", "--containerd", "2.2.9"]) == 2
    assert "made with containerd 2.3.4, not 2.2.9" in capsys.readouterr().err


def test_a_hundred_nodes_start_in_three_seconds(tmp_path: Path) -> None:
    specs = [NodeSpec(f"node-{number}", "26100" if number % 2 else "20348") for number in range(100)]
    started = time.perf_counter()
    with SimulatedNodes(tmp_path, specs) as nodes:
        assert time.perf_counter() - started < 3
        assert len({nodes.port(name) for name in nodes.names}) == 100
        assert nodes.engine("node-99").services.get("containerd") is not None


def test_nothing_is_left_open(tmp_path: Path) -> None:
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("needs /proc")
    with SimulatedNodes(tmp_path / "warm", [NodeSpec("a")]):
        pass
    before = len(list(folder.iterdir()))
    for number in range(5):
        with SimulatedNodes(tmp_path / str(number), [NodeSpec("a"), NodeSpec("b")]):
            pass
    assert len(list(folder.iterdir())) == before
