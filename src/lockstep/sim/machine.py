"""What the programs of a simulated node see: its facts, drives, clock, and the cluster."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lockstep.sim.clock import Clock
from lockstep.sim.cluster import Cluster
from lockstep.sim.disk import Disk
from lockstep.sim.documents import read_json, write_json
from lockstep.sim.engine import Completed
from lockstep.sim.hardware import Hardware


@dataclass(frozen=True, slots=True)
class Facts:
    """What a node is. `build` is a full version; `product` is ProductName as the registry has it."""

    name: str
    build: str
    product: str
    containerd: str
    kubernetes: str

    @property
    def computer_name(self) -> str:
        """The NetBIOS name: 15 characters, upper case."""
        return self.name.upper()[:15]

    def data(self) -> dict[str, Any]:
        """As node.json has it."""
        return {**asdict(self), "computer_name": self.computer_name}


class ExitError(Exception):
    """A program ends instead of serving: its exit code and last words.

    `before_ready` tells whether the service manager had not heard from it yet.
    """

    def __init__(self, code: int, words: str, *, before_ready: bool) -> None:
        super().__init__(words)
        self.code = code
        self.words = words
        self.before_ready = before_ready


class PausedError(Exception):
    """A service wrapper whose program does not stay up waits before it starts it again: the service is paused."""


class Program(Protocol):
    """A program that a node can run."""

    def run(self, machine: Machine, arguments: list[str]) -> Completed:
        """Run it to its end."""

    def serve(self, machine: Machine, arguments: list[str]) -> Mapping[str, Any]:
        """Start it as a service: what the process then has in memory; raises ExitError."""


@dataclass(slots=True)
class Machine:
    """One node, as its programs see it."""

    facts: Facts
    disk: Disk
    clock: Clock
    cluster: Cluster
    running: Path
    """Folder with one JSON file a running service: what its process has in memory, whatever the disk says by now."""
    programs: Mapping[str, Callable[[str], Program]] = field(default_factory=dict)
    """Program name to what makes it at a version."""
    starting: str = ""
    """The service whose process is being started: what a program learns from the service manager."""
    under_service_manager: bool = True
    """Whether the process that is being started is a service's own, and not the child of a wrapper such as nssm."""
    booted: float = field(default_factory=time.monotonic)
    """When this boot began, in seconds of time.monotonic."""
    restart: Callable[[float], None] = lambda _: None
    """Has Windows go down after so many seconds, and come back."""

    @property
    def folder(self) -> Path:
        """Where the node's state is."""
        return self.running.parent

    @property
    def hardware(self) -> Hardware:
        """The machine as it is now."""
        return Hardware.read(self.folder)

    def memory(self, service: str) -> Mapping[str, Any] | None:
        """Return what the running process of a service has in memory; None where it does not run."""
        return read_json(self.running / f"{service.lower()}.json")

    def memories(self) -> list[Mapping[str, Any]]:
        """Return what the processes of all running services have in memory."""
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(self.running.glob("*.json"))]

    def remember(self, service: str, memory: Mapping[str, Any] | None) -> None:
        """Set what a service's process has in memory; None when it ends, nothing kept of one that tells nothing."""
        path = self.running / f"{service.lower()}.json"
        if not memory:
            path.unlink(missing_ok=True)
        else:
            self.running.mkdir(exist_ok=True)
            write_json(path, memory)

    def log_event(self, text: str) -> None:
        """Add a line to events.log, the node's System event log."""
        with (self.folder / "events.log").open("a", encoding="utf-8") as file:
            file.write(f"{self.clock.text()} {text}\n")
