"""Cases on the emulated engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.node.support import program, registry, server
from tests.node.support.cases import PROGRAM, Case, ServiceNow

from lockstep.node.session import Completed
from lockstep.sim import EmulatedEngine, NodeSpec
from lockstep.sim.engine import Completed as Ran
from lockstep.sim.machine import Machine
from lockstep.sim.programs import placeholder
from lockstep.sim.services import Service


class TestProgram:
    """testservice.exe as the emulated engine runs programs. How its service behaves is told by armed faults."""

    __test__ = False

    def __init__(self, version: str) -> None:
        self.version = version

    def run(self, machine: Machine, arguments: list[str]) -> Ran:
        """Run it to its end."""
        if arguments[:1] == ["count"]:
            data, text = program.counted(machine.disk.read(arguments[1]), arguments[1])
            machine.disk.write(arguments[1], data)
            return Ran(0, text.encode(), b"")
        if arguments[:1] == ["sleep"]:
            machine.clock.sleep(float(arguments[1]))
            return Ran(0, b"", b"")
        code, out, err = program.answer(arguments)
        return Ran(code, out.encode(), err.encode())

    def serve(self, _machine: Machine, _arguments: list[str]) -> Mapping[str, Any]:
        """Start it as a service."""
        return {}


class EmulatedBench:
    """A fresh simulated node for each case."""

    name = "emulated"

    def __init__(self, folder: Path) -> None:
        self.engine = EmulatedEngine(folder / "node", NodeSpec("node"))
        self.engine.machine.programs = {**self.engine.machine.programs, "testservice.exe": TestProgram}

    @contextmanager
    def set_up(self, case: Case) -> Iterator[None]:
        """Lay out files, services and faults."""
        for folder in case.folders:
            self._place(folder).mkdir(parents=True, exist_ok=True)
        for path in (PROGRAM, *case.programs):
            self._write(path, placeholder("testservice.exe", "1.0.0"))
        for path, data in case.files.items():
            self._write(path, data)
        for name, document in server.emulated(case.windows).items():
            (self.engine.folder / f"{name}.json").write_text(json.dumps(document))
        kept = self.engine.folder / "registry.json"
        kept.write_text(registry.merged(kept.read_text() if kept.exists() else None, registry.emulated(case.registry)))
        services = self.engine.services
        for fault in case.emulated.get("faults_before_start", ()):
            self.engine.faults.add(**fault)
        for one in case.services:
            services.add(Service(one.name, one.name, one.binary_path, "manual", list(one.depends_on), exit_code=1077))
            if one.running:
                services.start(one.name)
        for fault in (*case.faults, *case.emulated.get("faults", ())):
            self.engine.faults.add(**fault)
        yield

    def run(self, command: str, stdin: bytes) -> Completed:
        """Run a command line on the node."""
        done = self.engine.execute(command, stdin)
        return Completed(done.exit_code, done.stdout.decode(), done.stderr.decode())

    def files(self, case: Case) -> Mapping[str, bytes]:
        """Return the case's files."""
        root = self.engine.folder / "C"
        found = {"C:\\" + "\\".join(path.relative_to(root).parts): path for path in root.rglob("*") if path.is_file()}
        return {
            name: path.read_bytes() for name, path in found.items() if case.owns(name) and name not in case.programs
        }

    def services(self, names: Sequence[str]) -> Mapping[str, ServiceNow]:
        """Return what the service manager says."""
        found = {name: self.engine.services.get(name) for name in names}
        return {
            name: ServiceNow(one.state, one.binary_path, one.process_id)
            for name, one in found.items()
            if one is not None
        }

    def _place(self, path: str) -> Path:
        return self.engine.folder / path.replace(":", "", 1).replace("\\", "/")

    def _write(self, path: str, data: bytes) -> None:
        place = self._place(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
