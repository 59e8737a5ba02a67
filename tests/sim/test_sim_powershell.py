"""The powershell engine: received command lines run by a command, here by one that tells what it was given."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from lockstep.sim import NodeSpec, SimulatedNodes
from lockstep.sim.powershell import PowerShellEngine

TELL = """\
import json, sys
data = sys.stdin.buffer.read()
json.dump({"arguments": sys.argv[1:], "stdin": data.decode()}, sys.stdout)
sys.stderr.write("words")
sys.exit(3)
"""


@pytest.fixture
def engine(tmp_path: Path) -> PowerShellEngine:
    script = tmp_path / "tell.py"
    script.write_text(TELL)
    command = shlex.join([sys.executable, str(script), "{node}", "{state}"])
    return PowerShellEngine(command, "win-0", tmp_path / "state")


@pytest.mark.parametrize("name", ["PowerShell", "powershell.exe", "POWERSHELL"])
def test_the_command_gets_arguments_and_input(name: str, engine: PowerShellEngine, tmp_path: Path) -> None:
    done = engine.execute(f'{name} -NoProfile -Command "a b" c', b"input")
    assert (done.exit_code, done.stderr) == (3, b"words")
    told = json.loads(done.stdout)
    assert told["arguments"] == ["win-0", str(tmp_path / "state"), "-NoProfile", "-Command", "a b", "c"]
    assert told["stdin"] == "input"


@pytest.mark.parametrize("line", ["", "cmd.exe /c ver", "pwsh -Command x"])
def test_other_programs_are_refused(line: str, engine: PowerShellEngine) -> None:
    done = engine.execute(line, b"")
    assert done.exit_code == 1
    assert b"runs PowerShell and nothing else" in done.stderr


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    done = PowerShellEngine("/no/such/program", "a", tmp_path).execute("PowerShell x", b"")
    assert done.exit_code == 1
    assert b"/no/such/program does not start: No such file or directory" in done.stderr


def test_what_it_starts_does_not_keep_it(tmp_path: Path) -> None:
    command = shlex.join(["sh", "-c", "sleep 60 & echo $!"])
    done = PowerShellEngine(command, "a", tmp_path).execute("PowerShell x", b"")
    os.kill(int(done.stdout), signal.SIGKILL)
    assert done.exit_code == 0


@pytest.mark.parametrize("command", ["", "  ", "'open"])
def test_a_command_that_is_none(command: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="PowerShell command"):
        PowerShellEngine(command, "a", tmp_path)


def test_nodes_on_it(tmp_path: Path) -> None:
    with SimulatedNodes(tmp_path, [NodeSpec("a")], powershell="true") as nodes:
        nodes.faults("a").add(kind="latency", seconds=0)
        assert nodes.stats()["a"]["requests"] == 0
        with pytest.raises(TypeError, match="powershell engine"):
            nodes.engine("a")
