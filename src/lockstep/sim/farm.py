"""Simulated nodes behind WinRM, in this process.

with SimulatedNodes(folder, [NodeSpec("win2025-0", "ltsc2025", "2.3.4", "1.36.1")]) as nodes:
    nodes.port("win2025-0")                      # for ansible_port
    nodes.engine("win2025-0").faults.add(kind="power", step=3)
    nodes.stats()["win2025-0"]["requests"]
    nodes.cluster.list()                         # as `kubectl get nodes -o json`
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lockstep.sim.cluster import Cluster
from lockstep.sim.engine import Engine
from lockstep.sim.faults import Faults
from lockstep.sim.fresh import NodeSpec
from lockstep.sim.mirror import PREFIX, find
from lockstep.sim.mirror_faults import MOVED, Answer, MirrorFaults
from lockstep.sim.node import EmulatedEngine, StateError
from lockstep.sim.powershell import PowerShellEngine
from lockstep.sim.stats import MirrorStats, Stats
from lockstep.sim.winrm.auth import Account
from lockstep.sim.winrm.server import Front, Listener
from lockstep.sim.winrm.shells import Shells

DEFAULT_USER = "Administrator"
DEFAULT_PASSWORD = "lockstep"  # noqa: S105 (documented, and good for nothing but a simulated node)
LOOPBACK = "127.0.0.1"


class _Served:
    """A node as the WinRM front has it."""

    def __init__(self, name: str, engine: Engine, faults: Faults, account: Account) -> None:
        self.name = name
        self.engine = engine
        self.faults = faults
        self.account = account
        self.shells = Shells(engine, engine.left_alone) if isinstance(engine, EmulatedEngine) else Shells(engine)
        self.stats = Stats()
        self._boot: int | None = None

    @property
    def boot(self) -> int | None:
        boot = self.engine.boot if isinstance(self.engine, EmulatedEngine) else 1
        if boot != self._boot:
            # Nothing of a shell outlives the power.
            self.shells.clear()
            self._boot = boot
        return boot

    def latency(self) -> float:
        return self.faults.latency()

    def drop(self) -> str | None:
        return self.faults.drop()


class SimulatedNodes:
    """Nodes of one process: a context manager that listens while it is entered."""

    def __init__(
        self,
        state: Path,
        specs: Sequence[NodeSpec],
        *,
        port: int = 0,
        shared_port: bool = False,
        address: str = LOOPBACK,
        user: str = DEFAULT_USER,
        password: str = DEFAULT_PASSWORD,
        powershell: str | None = None,
        programs: Path | None = None,
    ) -> None:
        """Make or open the nodes; nothing listens yet.

        Ports are a node's own, or counted up from `port` (0: any), or `port` for all with `shared_port`: those
        are told apart by path, `/wsman/<node>`. `powershell` is a command: the received command lines are run by
        it instead of the emulated engine. `programs` is a folder of real programs for the mirror
        (lockstep.sim.mirror). Raises StateError, ValueError.
        """
        names = [spec.name for spec in specs]
        if not specs or len(set(names)) != len(names):
            raise ValueError("simulated nodes need names, each its own")
        self.cluster = Cluster(state / "cluster" / "nodes")
        self.mirror_faults = MirrorFaults()
        self.mirror_stats = MirrorStats()
        self.programs = programs
        self._address = address
        account = Account(user, password)
        self._nodes: dict[str, _Served] = {}
        for spec in specs:
            folder = state / spec.name
            engine: Engine
            if powershell is None:
                engine = EmulatedEngine(folder, spec, state / "cluster" / "nodes")
                faults = engine.faults
            else:
                folder.mkdir(parents=True, exist_ok=True)
                engine, faults = PowerShellEngine(powershell, spec.name, folder), Faults(folder / "faults.json")
            self._nodes[spec.name] = _Served(spec.name, engine, faults, account)
        self._wanted: dict[str, int] = {}
        for index, spec in enumerate(specs):
            counted = port if shared_port or port == 0 else port + index
            self._wanted[spec.name] = spec.port if spec.port is not None else counted
        self._shared = shared_port
        self._ports: dict[str, int] = {}
        self._front: Front | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Listen. Raises OSError where a port is taken."""
        groups: list[tuple[int, dict[str, _Served]]] = []
        for name, wanted in self._wanted.items():
            known = next((nodes for port, nodes in groups if port == wanted and (wanted or self._shared)), None)
            if known is None:
                groups.append((wanted, {name: self._nodes[name]}))
            else:
                known[name] = self._nodes[name]
        listeners: list[Listener] = []
        for port, nodes in groups:
            try:
                listeners.append(Listener((self._address, port), nodes, _Api(self)))
            except OSError as error:
                for listener in listeners:
                    listener.server_close()
                taken = (
                    f"port {port} on {self._address} is taken" if error.errno == errno.EADDRINUSE else error.strerror
                )
                raise OSError(error.errno, f"cannot listen for {', '.join(nodes)}: {taken}") from None
            self._ports.update(dict.fromkeys(nodes, listeners[-1].server_port))
        self._front = Front(listeners)
        self._front.start()

    def stop(self) -> None:
        """Stop listening; the state stays as it is."""
        if self._front is not None:
            self._front.stop()
            self._front = None

    @property
    def names(self) -> list[str]:
        """The nodes, in order."""
        return list(self._nodes)

    def port(self, name: str) -> int:
        """Where a node listens."""
        return self._ports[name]

    def path(self, name: str) -> str:
        """Return the path of a node's WinRM service: `/wsman`, or `/wsman/<node>` on a port with several nodes."""
        return "/wsman" if list(self._ports.values()).count(self._ports[name]) == 1 else f"/wsman/{name}"

    def url(self, name: str) -> str:
        """Return a node's WinRM address."""
        return f"http://{self._address}:{self.port(name)}{self.path(name)}"

    def engine(self, name: str) -> EmulatedEngine:
        """Return a node's emulated engine: its state, services, faults and power.

        Raises TypeError on the powershell engine.
        """
        engine = self._nodes[name].engine
        if not isinstance(engine, EmulatedEngine):
            raise TypeError(f"{name} runs on the powershell engine")
        return engine

    def faults(self, name: str) -> Faults:
        """Return a node's faults, whatever its engine."""
        return self._nodes[name].faults

    def mirror(self, name: str) -> str:
        """Return the address of the mirror on a node's port."""
        return f"http://{self._address}:{self.port(name)}{PREFIX}"

    def stats(self) -> dict[str, Any]:
        """Counters by node (see Stats.data)."""
        return {name: node.stats.data() for name, node in self._nodes.items()}

    def reset_stats(self) -> None:
        """Count from nothing again."""
        for node in self._nodes.values():
            node.stats.reset()
        self.mirror_stats.reset()


class _Api:
    """What is served beside WinRM: counters, Node objects, the mirror, control."""

    def __init__(self, nodes: SimulatedNodes) -> None:
        self._nodes = nodes

    def get(self, path: str) -> Any | None:
        if path == "/stats":
            return {"nodes": self._nodes.stats(), "mirror": self._nodes.mirror_stats.data()}
        if path == "/api/v1/nodes":
            return self._nodes.cluster.list()
        name = path.removeprefix("/api/v1/nodes/")
        if name != path and name and "/" not in name and not name.startswith("."):
            return self._nodes.cluster.get(name)
        return None

    def download(self, path: str, query: str, *, logged_on: bool) -> Answer | None:
        if not path.startswith(f"{PREFIX}/"):
            return None
        below = path.removeprefix(PREFIX)
        answer = self._nodes.mirror_faults.answer(
            below, find(below, self._nodes.programs), logged_on=logged_on, moved=query == MOVED
        )
        self._nodes.mirror_stats.request(below, len(answer.file.data))
        return answer

    def control(self, document: Any) -> Any:
        """Carry out `{"node": …, "faults": […], "power": "off" | "on", "mirror": […], "reset_stats": true}`.

        Every key is optional; faults and power are of a node.
        """
        known = {"node", "faults", "power", "mirror", "reset_stats"}
        if not isinstance(document, dict) or not document or set(document) - known:
            raise ValueError(f"expected an object with {', '.join(sorted(known))}")
        if document.get("reset_stats"):
            self._nodes.reset_stats()
        if "mirror" in document:
            self._nodes.mirror_faults.set(document["mirror"])
        if not {"faults", "power"} & set(document):
            return {"ok": True, **({"mirror": self._nodes.mirror_faults.data()} if "mirror" in document else {})}
        name = document.get("node")
        if name not in self._nodes.names:
            raise ValueError(f"node is one of {', '.join(self._nodes.names)}")
        if "faults" in document:
            if not isinstance(document["faults"], list):
                raise ValueError("faults is a list: exactly these are armed")
            self._nodes.faults(name).set(document["faults"])
        if "power" in document:
            _power(self._nodes.engine(name), document["power"])
        return {"ok": True, "faults": self._nodes.faults(name).data()}


def _power(engine: EmulatedEngine, wanted: Any) -> None:
    actions: Mapping[str, Any] = {"off": engine.power_off, "on": engine.power_on}
    if not isinstance(wanted, str) or wanted not in actions:
        raise ValueError("power is off or on")
    actions[wanted]()


__all__ = ["DEFAULT_PASSWORD", "DEFAULT_USER", "NodeSpec", "SimulatedNodes", "StateError"]
