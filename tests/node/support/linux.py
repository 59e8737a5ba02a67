"""Cases on PowerShell for Linux: agent.ps1 with stubs for Windows' services and registry.

A Windows path is one file name there, backslashes included: `C:\\case\\a.toml` lies in the working folder.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.node.support.cases import PROGRAM, Case, ServiceNow

from lockstep.node.session import Completed

VARIABLE = "LOCKSTEP_PWSH"
STUBS = Path(__file__).parent.parent / "stubs"
SERVICE_CONTROL = "C:\\Windows\\System32\\sc.exe"
_LIMIT = 120


def missing() -> str | None:
    """Return why there is no PowerShell here, or None."""
    return None if os.environ.get(VARIABLE) else f"{VARIABLE} does not name a PowerShell for Linux"


class LinuxBench:
    """A working folder that plays a node's drives."""

    name = "linux"

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "drives"
        self.folder.mkdir()
        self.stubs = folder / "services"
        self.stubs.mkdir()

    @contextmanager
    def set_up(self, case: Case) -> Iterator[None]:
        """Lay out files and services."""
        for folder in case.folders:
            (self.folder / folder).mkdir()
        for path in (PROGRAM, *case.programs):
            self._program(path, Path(__file__).parent / "program.py")
        self._program(SERVICE_CONTROL, STUBS / "sc.py")
        for path, data in case.files.items():
            (self.folder / path).write_bytes(data)
        for number, one in enumerate(case.services, start=1):
            state = {
                "name": one.name,
                "binary_path": one.binary_path,
                "depends_on": list(one.depends_on),
                "state": "Running" if one.running else "Stopped",
                "process_id": 4000 + number if one.running else 0,
                "exit_code": 0 if one.running else 1077,
                "behaviour": ["run"],
            }
            if one.running:
                config = one.binary_path.rpartition(" ")[2].strip('"')
                state["behaviour"] = (self.folder / config).read_text().split()
            (self.stubs / f"{one.name}.json").write_text(json.dumps(state))
        yield

    def run(self, command: str, stdin: bytes) -> Completed:
        """Run a command line with the stubs loaded first."""
        *options, encoded = command.split()[1:]
        script = f"Import-Module '{STUBS / 'windows.psm1'}'\n" + base64.b64decode(encoded).decode("utf-16-le")
        environment = {
            **os.environ,
            "ProgramData": "C:\\ProgramData",
            "SystemRoot": "C:\\Windows",
            "COMPUTERNAME": "LINUX",
            "LOCKSTEP_STUBS": str(self.stubs),
            "POWERSHELL_TELEMETRY_OPTOUT": "1",
        }
        done = subprocess.run(
            [os.environ[VARIABLE], *options, base64.b64encode(script.encode("utf-16-le")).decode()],
            input=stdin, cwd=self.folder, env=environment, capture_output=True, timeout=_LIMIT, check=False,
        )  # fmt: skip
        return Completed(done.returncode, done.stdout.decode(), done.stderr.decode())

    def files(self, case: Case) -> Mapping[str, bytes]:
        """Return the case's files."""
        found = [path for path in self.folder.iterdir() if path.is_file() and path.name not in case.programs]
        return {path.name: path.read_bytes() for path in found if case.owns(path.name)}

    def services(self, names: list[str]) -> Mapping[str, ServiceNow]:
        """Return what the stubs keep."""
        words = {
            "Running": "running",
            "Stopped": "stopped",
            "StartPending": "start_pending",
            "StopPending": "stop_pending",
        }
        found = {name: json.loads((self.stubs / f"{name}.json").read_text()) for name in names}
        return {
            name: ServiceNow(words[one["state"]], one["binary_path"], one["process_id"]) for name, one in found.items()
        }

    def _program(self, path: str, source: Path) -> None:
        file = self.folder / path
        file.write_text(f"#!{sys.executable}\n{source.read_text()}")
        file.chmod(0o755)
