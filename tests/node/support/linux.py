"""Cases on PowerShell for Linux: the agent with stubs for Windows' services and registry.

A Windows path is one file name there, backslashes included: `C:\\case\\a.toml` lies in the working folder. Where an
operation lists or renames folders, it gets slashes in the paths of its case instead, so that there are folders.
"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.node.support import registry, server
from tests.node.support.cases import PROGRAM, Case, ServiceBefore, ServiceNow

from lockstep.node.session import Completed

VARIABLE = "LOCKSTEP_PWSH"
STUBS = Path(__file__).parent.parent / "stubs"
MODULES = tuple(STUBS / name for name in ("registry.psm1", "windows.psm1", "server.psm1"))
SERVICE_CONTROL = "C:\\Windows\\System32\\sc.exe"
SERVICES = "HKLM\\SYSTEM\\CurrentControlSet\\Services"
_STATES = {"Running": "running", "Stopped": "stopped", "StartPending": "start_pending", "StopPending": "stop_pending"}


_OF_FOLDERS = ("store.", "file.install", "folder.")


def _slashed(value: Any, tree: str) -> Any:
    if isinstance(value, list):
        return [_slashed(item, tree) for item in value]
    if isinstance(value, dict):
        return {key: _slashed(item, tree) for key, item in value.items()}
    is_path = isinstance(value, str) and (value == tree or value.startswith(f"{tree}\\"))
    return value.replace("\\", "/") if is_path else value


def _backslashed(text: str, tree: str) -> str:
    """Give the paths in a JSON text their backslashes again."""
    start = re.escape(tree.replace("\\", "/"))
    return re.sub(rf"{start}/[^\s\"',:]*", lambda match: match[0].replace("/", "\\\\"), text)


def missing() -> str | None:
    """Return why there is no PowerShell here, or None."""
    return None if os.environ.get(VARIABLE) else f"{VARIABLE} does not name a PowerShell for Linux"


class Host:
    """One PowerShell process that runs commands in runspaces."""

    def __init__(self) -> None:
        script = Path(__file__).parent / "host.ps1"
        self._process = subprocess.Popen(
            [os.environ[VARIABLE], "-NoProfile", "-NonInteractive", str(script), *map(str, MODULES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "POWERSHELL_TELEMETRY_OPTOUT": "1", "NO_COLOR": "1"},
        )

    def order(self, folder: Path, environment: Mapping[str, str], script: str, lines: Sequence[str]) -> dict[str, Any]:
        """Run a script with lines as its input: `stdout`, `stderr`, `tripped`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"folder": str(folder), "environment": dict(environment), "script": script, "input": list(lines)}
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=30)


class LinuxBench:
    """A working folder that plays a node's drives."""

    name = "linux"

    def __init__(self, host: Host, folder: Path) -> None:
        self._host = host
        self.folder = folder / "drives"
        self.folder.mkdir()
        self.tree: str | None = None
        """The folder whose paths have slashes here."""
        self._services = folder / "services"
        self._services.mkdir()
        self.environment = {
            "ProgramData": "C:\\ProgramData",
            "SystemRoot": "C:\\Windows",
            "COMPUTERNAME": "LINUX",
            "LOCKSTEP_STUBS": str(self._services),
            "LOCKSTEP_STUB_OWNER": "",
            "LOCKSTEP_STUB_DENIED": "",
        }
        self._program(SERVICE_CONTROL, STUBS / "sc.py")
        for path in (PROGRAM, "C:\\Windows\\System32\\shutdown.exe"):
            self._program(path, Path(__file__).parent / "program.py")
        self._program(server.POWER_CONFIGURATION, STUBS / "powercfg.py")

    @contextmanager
    def set_up(self, case: Case) -> Iterator[None]:
        """Lay out files and services."""
        operations = [one for request, _ in ((case.request, None), *case.then) for one in request["operations"]]
        if any(str(one.get("op")).startswith(_OF_FOLDERS) for one in operations):
            self.tree = case.folder
        for folder in case.folders:
            self._place(folder).mkdir(parents=self.tree is not None)
        for path in case.programs:
            self._program(path, Path(__file__).parent / "program.py")
        for path, data in {**server.files(case.windows), **server.registry_file(case.windows), **case.files}.items():
            self.write(path, data)
        self._add_keys(case.registry)
        denied = [fault["path"] for fault in case.faults if fault["kind"] == "denied"]
        self.environment["LOCKSTEP_STUB_DENIED"] = self._named(next(iter(denied), ""))
        for number, one in enumerate(case.services, start=1):
            self.add_service(one, process_id=4000 + number)
        yield

    def write(self, path: str, data: bytes) -> None:
        """Write a file."""
        place = self._place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)

    def add_service(self, one: ServiceBefore, process_id: int) -> None:
        """Register a service; it behaves as the last word of its command line, a file, says."""
        state = {
            "name": one.name,
            "state": "Running" if one.running else "Stopped",
            "process_id": process_id if one.running else 0,
            "exit_code": 0 if one.running else 1077,
            "behaviour": ["run"],
        }
        if one.running:
            config = one.binary_path.rpartition(" ")[2].strip('"')
            state["behaviour"] = (self.folder / config).read_text().split()
        (self._services / f"{one.name}.json").write_text(json.dumps(state))
        values: dict[str, Mapping[str, Any]] = {
            "ImagePath": {"kind": "expand_string", "value": one.binary_path},
            "DisplayName": {"kind": "string", "value": one.name},
            "ObjectName": {"kind": "string", "value": "LocalSystem"},
            "Start": {"kind": "dword", "value": 2 if one.automatic else 3},
        }
        depends = {"DependOnService": {"kind": "multi_string", "value": list(one.depends_on)}} if one.depends_on else {}
        self._add_keys({f"{SERVICES}\\{one.name}": {**values, **depends}})

    def run(self, command: str, stdin: bytes) -> Completed:
        """Run a command line on the node."""
        answer = self.order(command, stdin)
        return Completed(0, answer["stdout"], answer["stderr"])

    def order(self, command: str, stdin: bytes) -> dict[str, Any]:
        """Run a command line in a runspace: `stdout`, `stderr`, `tripped`."""
        script = base64.b64decode(command.rsplit(maxsplit=1)[-1]).decode("utf-16-le")
        lines = stdin.decode("ascii").splitlines()
        if self.tree is None:
            return self._host.order(self.folder, self.environment, script, lines)
        [line] = lines
        given = json.loads(line)
        line = json.dumps({**given, "request": _slashed(given["request"], self.tree)})
        answer = self._host.order(self.folder, self.environment, script, [line])
        return {**answer, "stdout": _backslashed(answer["stdout"], self.tree)}

    def files(self, case: Case) -> Mapping[str, bytes]:
        """Return the case's files."""
        found = {
            str(path.relative_to(self.folder)).replace("/", "\\"): path
            for path in self.folder.rglob("*")
            if path.is_file()
        }
        return {
            name: path.read_bytes() for name, path in found.items() if case.owns(name) and name not in case.programs
        }

    def services(self, names: Sequence[str]) -> Mapping[str, ServiceNow]:
        """Return what the stubs keep."""
        keys = json.loads((self.folder / registry.FILE).read_text())
        found = {}
        for name in names:
            state = self._services / f"{name}.json"
            if state.exists():
                one, image = json.loads(state.read_text()), keys[f"{SERVICES}\\{name}"]["ImagePath"]["value"]
                found[name] = ServiceNow(_STATES[one["state"]], image, one["process_id"])
        return found

    def _add_keys(self, keys: registry.Keys) -> None:
        """Add keys to the file that stands for the registry."""
        file = self.folder / registry.FILE
        file.write_text(registry.merged(file.read_text() if file.exists() else None, keys))

    def _place(self, path: str) -> Path:
        return self.folder / self._named(path)

    def _named(self, path: str) -> str:
        """Return a path as the agent is asked for it here."""
        return path if self.tree is None else str(_slashed(path, self.tree))

    def _program(self, path: str, source: Path) -> None:
        file = self._place(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!{sys.executable}\n{source.read_text()}")
        file.chmod(0o755)
