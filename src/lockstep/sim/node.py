"""A simulated node: its state in a folder, its power, its engine.

<state>/<node>/node.json        what it is: build, versions
<state>/<node>/C/…              its drive, as files
<state>/<node>/services.json    its services: definition, state, process, exit code
<state>/<node>/machine.json     the machine under it
<state>/<node>/registry.json …  what Windows itself keeps (see lockstep.sim.windows)
<state>/<node>/running/…        what each running service's process has in memory, as JSON
<state>/<node>/events.log       what the service manager and programs say of failures
<state>/<node>/faults.json      armed faults (see lockstep.sim.faults)
<state>/cluster/nodes/…         the Node objects that kubelets registered
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lockstep.node import session
from lockstep.node.contract import contract
from lockstep.node.session import Session
from lockstep.node.wire import command_line
from lockstep.sim import fresh, windows
from lockstep.sim.agent.requests import Agent
from lockstep.sim.clock import Clock
from lockstep.sim.cluster import Cluster
from lockstep.sim.containerd.program import Containerd, Crictl, Ctr
from lockstep.sim.disk import Disk
from lockstep.sim.engine import Completed, PowerLost
from lockstep.sim.faults import Faults
from lockstep.sim.kubelet.health import Curl
from lockstep.sim.kubelet.program import Kubelet
from lockstep.sim.machine import Facts, Machine, Program
from lockstep.sim.power import Power
from lockstep.sim.services import Services
from lockstep.sim.small_programs import SMALL_PROGRAMS
from lockstep.sim.steps import Steps
from lockstep.sim.wrappers import LogRunner, Nssm

_SOON = 0.5

PROGRAMS: Mapping[str, Callable[[str], Program]] = {
    "containerd.exe": Containerd,
    "ctr.exe": Ctr,
    "crictl.exe": Crictl,
    "kubelet.exe": Kubelet,
    "curl.exe": Curl,
    "kube-log-runner.exe": LogRunner,
    "nssm.exe": Nssm,
    **SMALL_PROGRAMS,
}


class StateError(ValueError):
    """A state folder that cannot be used; the text says why and what to do."""


class EmulatedEngine:
    """One node: plain Python, no PowerShell. Its methods are safe to call from several threads."""

    def __init__(self, folder: Path, spec: fresh.NodeSpec | None = None, cluster: Path | None = None) -> None:
        """Open the node in `folder`, or make it there from `spec`; opening is a boot.

        `cluster` is the folder of Node objects, `cluster/nodes` beside `folder` where it is not given. Raises
        StateError, ValueError for a build or version that is none.
        """
        self.folder = folder
        self.faults = Faults(folder / "faults.json")
        self.steps = Steps()
        self._lock = threading.RLock()
        made = not (folder / "node.json").exists()
        if made:
            spec = spec or fresh.NodeSpec(folder.name)
            fresh.lay_out(folder, spec)
        facts = _facts(folder, spec)
        disk = Disk(folder, self.faults, self.steps)
        nodes = Cluster(cluster or folder.parent / "cluster" / "nodes")
        self.machine = Machine(facts, disk, Clock(), nodes, folder / "running", PROGRAMS)
        self.services = Services(folder / "services.json", self.machine, self.faults, self.steps)
        self.machine.restart = self._restart
        self._again = 0
        self._agent = Agent(self.machine, self.services, self.faults, self.steps)
        self._power = Power(self.services.halt, self._boot)
        if made and spec is not None:
            self._power.begin()
            fresh.start(self.services, spec)
        else:
            self.power_on()

    @property
    def name(self) -> str:
        """The node's name."""
        return self.machine.facts.name

    @property
    def boot(self) -> int | None:
        """Which boot this is; None while the node has no power.

        A node whose time is up comes back when it is asked for.
        """
        with self._lock:
            return self._power.boot

    def power_off(self, off_seconds: float | None = None) -> None:
        """Pull the plug; the node is back after so many seconds, or when it is told (None)."""
        with self._lock:
            self._power.off(off_seconds)

    def power_on(self) -> None:
        """Boot: automatic services start on what is on the disk."""
        with self._lock:
            self._power.on()

    def _boot(self) -> None:
        self.machine.booted = time.monotonic()
        self.steps.disarm()
        for service in windows.boot(self.folder):
            self.services.add(service)
        self.services.boot()
        if self._again:
            self._again -= 1
            self._power.restart(_SOON, self.machine.hardware.restart_seconds)

    def left_alone(self) -> None:
        """Nobody's command is open any more: a restart that waits for its answer to arrive begins."""
        with self._lock:
            self._power.hasten(_SOON)

    def _restart(self, after: float) -> None:
        fault = self.faults.restart()
        seconds = fault["off_seconds"] if fault else self.machine.hardware.restart_seconds
        self._again = int(fault.get("again", 0)) if fault else 0
        self._power.restart(after, seconds)

    def execute_request(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the agent's response to a request of the contract.

        Raises PowerLost where the node goes down in between.
        """
        with self._lock:
            if self.boot is None:
                raise PowerLost("the node has no power")
            fault = None
            if request.get("mode") == "apply":
                fault = self.faults.power()
                self.steps.begin(fault["step"] if fault else None)
            try:
                return self._agent.answer(request)
            except PowerLost:
                self.power_off(fault.get("off_seconds", 0) if fault else 0)
                raise

    def execute(self, line: str, stdin: bytes) -> Completed:
        """Run a command line: lockstep's own, with the request that its standard input holds; refuse any other."""
        if line.split() != command_line().split():
            return Completed(1, b"", _REFUSAL)
        try:
            envelope = json.loads(stdin)
            request, _ = envelope["request"], envelope["end"]
        except (ValueError, KeyError, TypeError):
            return Completed(1, b"", _INCOMPLETE)
        response = json.dumps(self.execute_request(request))
        return Completed(0, _framed(response), b"")

    def session(self) -> Session:
        """Return a session with this node, as the modules have one, without WinRM in between."""

        def run(line: str, stdin: bytes) -> session.Completed:
            done = self.execute(line, stdin)
            return session.Completed(done.exit_code, done.stdout.decode(), done.stderr.decode())

        return Session(run)


_REFUSAL = (
    b"This is a simulated node (lockstep sim, emulated engine). It runs lockstep's own agent and nothing else: "
    b"the modules containerd_config, kubelet_config and their _info siblings. "
    b"For any other PowerShell use --engine powershell.\r\n"
)
_INCOMPLETE = b"lockstep's bootstrap needs one JSON object with script, request and end on standard input\r\n"


def _framed(response: str) -> bytes:
    markers = contract()["markers"]
    return f"{markers['begin']}\r\n{response}\r\n{markers['end']}\r\n".encode("ascii")


def _facts(folder: Path, spec: fresh.NodeSpec | None) -> Facts:
    document = json.loads((folder / "node.json").read_text(encoding="utf-8"))
    document.pop("computer_name", None)
    facts = Facts(**document)
    wanted = spec.facts() if spec is not None else facts
    named = ("name", "build", "containerd", "kubernetes")
    different = [key for key in named if wanted.data()[key] != facts.data()[key]]
    if different:
        was = " and ".join(f"{key} {facts.data()[key]}, not {wanted.data()[key]}" for key in different)
        raise StateError(
            f"{folder} holds a node that was made with {was}: give another state folder, or remove this one"
        )
    return facts
