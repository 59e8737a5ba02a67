"""Cases on the Windows stand-in: the agent in PowerShell for Windows, with real services."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from tests.node.support import registry, server
from tests.node.support.cases import PROGRAM, TRANSACTIONS, Case, ServiceBefore, ServiceNow
from tests.node.support.engines import parse_states

from lockstep.node.session import Completed

VARIABLE = "LOCKSTEP_WINDOWS_NODE"
SOURCE = Path(__file__).parent.parent / "testservice"
STUBS = Path(__file__).parent.parent / "stubs" / "server.psm1"
SERVICES = "HKLM\\SYSTEM\\CurrentControlSet\\Services"
_LIMIT = 120


def missing() -> str | None:
    """Return why there is no stand-in here, or None."""
    if not os.environ.get(VARIABLE):
        return f"{VARIABLE} does not name a program that plays a Windows node"
    if shutil.which("wine") is None:
        return "Wine is not installed"
    if shutil.which("go") is None:
        return "Go is not installed: it builds the test service for Windows"
    return None


def build_program(target: Path) -> None:
    """Build testservice.exe."""
    environment = {**os.environ, "GOOS": "windows", "GOARCH": "amd64", "CGO_ENABLED": "0"}
    command = ["go", "build", "-trimpath", "-ldflags", "-s -w", "-o", str(target), "."]
    subprocess.run(command, cwd=SOURCE, env=environment, check=True, timeout=300)


class Node:
    """One node of the stand-in, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._script = os.environ[VARIABLE]

    def power(self, order: str) -> None:
        """`start` or `stop` it; stopping is pulling the plug."""
        subprocess.run([self._script, order, str(self.folder)], check=True, timeout=_LIMIT, stdout=subprocess.DEVNULL)

    def place(self, path: str) -> Path:
        """Where a Windows path lies on this machine."""
        return self.folder / f"drive_{path[0].lower()}" / path[3:].replace("\\", "/")

    def path(self, place: Path) -> str:
        """Return the Windows path of a file on its C:."""
        return "C:\\" + "\\".join(place.relative_to(self.folder / "drive_c").parts)

    def powershell(self, *arguments: str) -> list[str]:
        """Return the command that starts PowerShell on it."""
        return [self._script, "powershell", str(self.folder), *arguments]

    def program(self, *arguments: str, stdin: str = "") -> str:
        """Run the test program to its end; its standard output."""
        command = [self._script, "run", str(self.folder), PROGRAM, *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=_LIMIT, check=False)
        assert done.returncode == 0, f"testservice {arguments}: {done.stderr or done.stdout}"
        return done.stdout

    def execute(self, program: str, *arguments: str) -> None:
        """Run a program of Windows' own to its end, whatever becomes of it."""
        command = [self._script, "run", str(self.folder), program, *arguments]
        subprocess.run(command, capture_output=True, timeout=_LIMIT, check=False)

    def prepare(self, services: Sequence[ServiceBefore]) -> None:
        """Register services, and start those that are to run."""
        self.program("prepare", stdin=json.dumps([asdict(one) for one in services]))

    def states(self, names: Sequence[str]) -> Mapping[str, ServiceNow]:
        """Return what the service manager says."""
        return parse_states(self.program("states", *names)) if names else {}

    def run(self, command: str, stdin: bytes) -> Completed:
        """Run one of lockstep's command lines; a process that takes too long is ended and told of."""
        arguments = self.powershell(*command.split()[1:])
        done = subprocess.run(arguments, input=stdin, capture_output=True, timeout=_LIMIT, check=False)
        return Completed(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def begin(self, command: str, stdin: bytes) -> subprocess.Popen[bytes]:
        """Start one of lockstep's command lines without waiting for its end."""
        arguments = self.powershell(*command.split()[1:])
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet)
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        return process

    def hold(self, path: str) -> subprocess.Popen[bytes]:
        """Open a file, shared with nobody, until the returned process's standard input is closed."""
        command = [self._script, "run", str(self.folder), PROGRAM, "hold", path]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"held"
        return process


class StandInBench:
    """One node for all cases, each in its own folder."""

    name = "windows"

    def __init__(self, node: Node) -> None:
        self.node = node

    @contextmanager
    def set_up(self, case: Case) -> Iterator[None]:
        """Lay out files, services and faults."""
        shutil.rmtree(self.node.place(case.folder), ignore_errors=True)
        if case.windows or case.name.startswith(server.SUBJECTS):
            self._prepare_windows(case)
        if case.registry or case.name.startswith("registry-"):
            self.node.execute("reg", "delete", case.key, "/f")
        for arguments in registry.commands(case.registry):
            self.node.execute("reg", *arguments)
        for folder in case.folders:
            self.node.place(folder).mkdir(parents=True, exist_ok=True)
        for path, data in case.files.items():
            self._write(path, data)
        for path in case.programs:
            self._write(path, self.node.place(PROGRAM).read_bytes())
        if case.name.startswith("restart-windows"):
            shutil.copyfile(self.node.place(PROGRAM), self.node.place("C:\\windows\\system32\\shutdown.exe"))
            overrides = "HKCU\\Software\\Wine\\DllOverrides"
            self.node.execute("reg", "add", overrides, "/v", "shutdown.exe", "/d", "native", "/f")
        with ExitStack() as stack:
            stack.callback(self._forget_keys, case)
            if case.services:
                stack.callback(self.node.program, "forget", *(one.name for one in case.services))
                self.node.prepare(case.services)
            for fault in case.faults:
                stack.enter_context(self._fault(fault))
            yield

    def run(self, command: str, stdin: bytes) -> Completed:
        """Run a command line on the node."""
        return self.node.run(command, stdin)

    def files(self, case: Case) -> Mapping[str, bytes]:
        """Return the case's files."""
        places = [*self.node.place(case.folder).rglob("*"), *self.node.place(TRANSACTIONS).glob("*")]
        found = {self.node.path(place): place for place in places if place.is_file()}
        return {
            name: place.read_bytes() for name, place in found.items() if case.owns(name) and name not in case.programs
        }

    def services(self, names: Sequence[str]) -> Mapping[str, ServiceNow]:
        """Return what the service manager says."""
        return self.node.states(names)

    def _forget_keys(self, case: Case) -> None:
        """Take what a case added to the registry away again, where others would meet it."""
        for key, values in case.registry.items():
            if key.startswith((case.key, SERVICES)):
                continue
            for name in values:
                self.node.execute("reg", "delete", key, "/v", name, "/f")
            if not values:
                self.node.execute("reg", "delete", key, "/f")

    def _prepare_windows(self, case: Case) -> None:
        """Install the stubs of what Wine lacks, and write what they and the registry have before the case."""
        modules = self.node.place("C:\\Program Files\\PowerShell\\Modules\\LockstepServer")
        modules.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(STUBS, modules / "LockstepServer.psm1")
        shutil.copyfile(self.node.place(PROGRAM), self.node.place("C:\\windows\\system32\\powercfg.exe"))
        for path, data in server.files(case.windows).items():
            self._write(path, data)
        for key, values in server.registry(case.windows).items():
            self.node.execute("reg", "delete", key, "/f")
            for name, text in values.items():
                self.node.execute("reg", "add", key, "/v", name, "/d", text, "/f")

    @contextmanager
    def _fault(self, fault: Mapping[str, str]) -> Iterator[None]:
        if fault["kind"] == "in_use":
            process = self.node.hold(fault["path"])
            yield
            process.communicate(timeout=_LIMIT)
            return
        # The read-only attribute, as Wine keeps it; Windows refuses to replace such a file.
        place = self.node.place(fault["path"])
        place.chmod(0o444)
        yield
        place.chmod(0o644)

    def _write(self, path: str, data: bytes) -> None:
        place = self.node.place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
