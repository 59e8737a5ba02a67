"""Provisioning bare simulated nodes: traffic, wall time, the controller's CPU and memory. Part of `make bench`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
LATENCY = 0.1
FORKS = 50
SIZES = (10, 50, 200)
POOLS = {"win2022": "ltsc2022", "win2025": "ltsc2025"}
CONTAINERD, KUBERNETES = "2.3.4", "1.36.1"
FLEET = yaml.safe_load((ROOT / "inventories/demo/group_vars/windows.yml").read_text(encoding="utf-8"))
FAILED = re.compile(r"(?:unreachable|failed)=[1-9]")
CHANGED = re.compile(r"changed=(\d+)")
# Facts, system preparation, container runtime and Kubernetes of image-builder are 53 runs of a module, each at least
# six messages.
PEERS = 53 * 6
LIMITS = (60, 12)
# A node of many may take this much of what a node of few takes, before it is called worse than linear: runs differ
# by some per cent.
TOLERANCE = 1.1


@dataclass(frozen=True)
class Run:
    """What one run of the playbook took. `requests` and the kilobytes are of the busiest node."""

    nodes: int
    name: str
    seconds: float
    cpu: float
    megabytes: float
    requests: int
    kilobytes_in: float
    kilobytes_out: float
    changed: int


@dataclass(frozen=True)
class Simulator:
    """What playing the nodes took."""

    start_seconds: float
    cpu: float
    megabytes: float


class BenchError(Exception):
    """A run that failed: its output's end."""


def measured(folder: Path, nodes: int, latency: float) -> tuple[list[Run], Simulator]:
    """Return a first and an idle run of the playbook on so many bare nodes, and what it took to play these."""
    inventory = _inventory(folder, nodes, latency)
    command = ["lockstep", "sim", "--shared-port", "--port=0", "--bare", f"--state={folder / 'nodes'}",
               f"--nodes={folder / 'nodes.yml'}", f"--pid-file={folder / 'nodes.pid'}"]  # fmt: skip
    began = time.monotonic()
    with (folder / "nodes.log").open("wb") as log:
        simulator = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        port = _port(folder, simulator)
        started = time.monotonic() - began
        runs = []
        for name in ("first", "idle"):
            _control(port, {"reset_stats": True})
            runs.append(_run(folder, inventory, nodes, name, port))
    finally:
        simulator.send_signal(signal.SIGTERM)
        _, _, usage = os.wait4(simulator.pid, 0)
    return runs, Simulator(started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _inventory(folder: Path, nodes: int, latency: float) -> Path:
    """Write the nodes, their faults, and an inventory with the demo's fleet."""
    pools = list(POOLS)
    names = {f"{pools[number % 2]}-{number}": pools[number % 2] for number in range(nodes)}
    entries = [
        {"name": name, "build": POOLS[pool], "containerd": CONTAINERD, "kubernetes": KUBERNETES}
        for name, pool in names.items()
    ]
    (folder / "nodes.yml").write_text(yaml.safe_dump(entries), encoding="utf-8")
    for name in names:
        state = folder / "nodes" / name
        state.mkdir(parents=True)
        (state / "faults.json").write_text(json.dumps([{"kind": "latency", "seconds": latency}]), encoding="utf-8")
    inventory = yaml.safe_load((ROOT / "inventories/demo/hosts.yml").read_text(encoding="utf-8"))
    windows = inventory["windows"]
    windows["children"] = {
        pool: {"hosts": {name: None for name, own in names.items() if own == pool}} for pool in pools
    }
    windows["vars"] |= FLEET | {
        "ansible_port": "{{ bench_port }}",
        "artifacts_mirror": "http://127.0.0.1:{{ bench_port }}/mirror",
        "ansible_winrm_path": "/wsman/{{ inventory_hostname }}",
    }
    path = folder / "inventory.yml"
    path.write_text(yaml.safe_dump(inventory), encoding="utf-8")
    return path


def _port(folder: Path, simulator: subprocess.Popen[bytes]) -> int:
    deadline = time.monotonic() + 120
    while not (folder / "nodes.pid").exists():
        if simulator.poll() is not None or time.monotonic() > deadline:
            raise BenchError(f"the simulated nodes did not start:\n{(folder / 'nodes.log').read_text()}")
        time.sleep(0.05)
    found = re.search(r":(\d+)/", (folder / "nodes.log").read_text())
    if found is None:
        raise BenchError("the simulated nodes did not say where they are")
    return int(found[1])


def _run(folder: Path, inventory: Path, nodes: int, name: str, port: int) -> Run:
    command: list[str | Path] = ["ansible-playbook", "-i", inventory, "-f", str(FORKS), "-e", f"bench_port={port}",
               ROOT / "playbooks/provision.yml"]  # fmt: skip
    environment = {**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"}
    log = folder / f"{name}.log"
    began = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT)
        memory = _Memory(process.pid)
        memory.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - began
    memory.done()
    text = log.read_text(encoding="utf-8", errors="replace")
    if process.returncode or FAILED.search(text):
        kept = Path(tempfile.gettempdir()) / f"lockstep-bench-{name}.log"
        kept.write_text(text, encoding="utf-8")
        failures = re.findall(r"^fatal: (?:.*\n)+?(?=\S|\n)", text, re.MULTILINE)
        raise BenchError(f"the {name} run on {nodes} nodes failed, see {kept}:\n{''.join(failures[:2])}")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/stats", timeout=30) as reply:
        stats = list(json.load(reply)["nodes"].values())
    busiest = max(stats, key=lambda one: int(one["requests"]))
    return Run(
        nodes, name, seconds, usage.ru_utime + usage.ru_stime, memory.peak, busiest["requests"],
        busiest["bytes_received"] / 1024, busiest["bytes_sent"] / 1024,
        sum(int(count) for count in CHANGED.findall(text)),
    )  # fmt: skip


def _control(port: int, document: object) -> None:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/control",
        json.dumps(document).encode(),
        {"Authorization": "Basic QWRtaW5pc3RyYXRvcjpsb2Nrc3RlcA=="},
    )
    urllib.request.urlopen(request, timeout=30).close()


class _Memory(threading.Thread):
    """Looks at the memory of a process and its children once a second: what they share is counted once."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0
        self._process = process
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(1.0):
            self.peak = max(self.peak, sum(_proportional_set(process) for process in _family(self._process)) / 1024)

    def done(self) -> None:
        """Stop looking."""
        self._ended.set()
        self.join()


def _family(process: int) -> list[int]:
    """Return a process and all below it."""
    found = [process]
    for parent in found:
        for task in _listed(Path(f"/proc/{parent}/task")):
            try:
                found += [int(child) for child in (task / "children").read_text().split()]
            except OSError:
                continue
    return found


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _proportional_set(process: int) -> int:
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) if found else 0


def show_traffic(runs: list[Run]) -> int:
    """Print what goes over the wire for one node; return how many figures are over their limit."""
    print(f"{'WinRM traffic of one node':44} {'requests':>8} {'limit':>5} {'kB there':>9} {'kB back':>8}")
    print(f"{'peers: the comparable part, at least':44} {PEERS:8}     -         -        -")
    over = 0
    for run, title, limit in zip(
        runs, ("first run, from a bare server", "run with nothing to do"), LIMITS, strict=True
    ):
        late = run.requests > limit
        over += late
        row = f"{title:44} {run.requests:8} {limit:5} {run.kilobytes_in:9.0f} {run.kilobytes_out:8.0f}"
        print(row + ("  over" if late else ""), flush=True)
    return over


def show_scale(sizes: Sequence[int] = SIZES) -> int:
    """Print how the runs grow with the number of nodes; return how many figures grow faster than the nodes do."""
    print(
        f"\n{LATENCY * 1000:.0f} ms latency, forks {FORKS}, {os.cpu_count()} processors, "
        "the simulated nodes on the same machine"
    )
    print(
        f"{'nodes':>5} {'run':6} {'wall s':>7} {'a node':>7} {'CPU s':>7} {'a node':>7} {'MB':>6} {'a node':>7}",
        flush=True,
    )
    found: list[Run] = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            runs, simulator = measured(Path(name), size, LATENCY)
            for run in runs:
                found.append(run)
                shares = run.seconds / size, run.cpu / size, run.megabytes / size
                print(
                    f"{size:5} {run.name:6} {run.seconds:7.1f} {shares[0]:7.2f} {run.cpu:7.1f} {shares[1]:7.2f}"
                    f" {run.megabytes:6.0f} {shares[2]:7.1f}",
                    flush=True,
                )
    print(
        f"to play {sizes[-1]} nodes took {simulator.start_seconds:.1f} s to start, {simulator.cpu:.0f} CPU s and "
        f"{simulator.megabytes:.0f} MB"
    )
    return sum(not grows_linearly([run for run in found if run.name == name]) for name in ("first", "idle"))


def grows_linearly(runs: list[Run]) -> bool:
    """Say of one kind of run whether the most nodes take no more of anything, each, than the fewest do."""
    few, many = runs[0], runs[-1]
    words = []
    for title, figure in (("wall time", "seconds"), ("CPU", "cpu"), ("memory", "megabytes")):
        ratio = getattr(many, figure) / many.nodes / max(getattr(few, figure) / few.nodes, 1e-9)
        words.append((ratio <= TOLERANCE, f"{title} {ratio:.2f}"))
    well = all(good for good, _ in words)
    shares = ", ".join(text for _, text in words)
    verdict = "linear or better" if well else "worse than linear"
    print(
        f"{many.name + ' run:':11} {verdict}: a node of {many.nodes} takes, of what one of {few.nodes} takes, {shares}"
    )
    return well


def main(sizes: Sequence[int] = SIZES) -> int:
    """Print both tables; return how many figures are worse than they should be, or 1 where a run failed."""
    try:
        with tempfile.TemporaryDirectory() as name:
            over = show_traffic(measured(Path(name), 1, 0.0)[0])
        return over + show_scale(sizes)
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(1 if main([int(text) for text in sys.argv[1:]] or SIZES) else 0)
