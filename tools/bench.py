"""Sizes and speeds: the commands, then nodes that are provisioned from bare (scale.py). `make bench` runs it.

Commands are measured as whole processes, start-up included, each figure the median of several runs. A figure over its
limit, or one that grows faster than the number of nodes, ends the run with exit status 1.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools import scale

ROOT = Path(__file__).resolve().parents[1]
BUILDS = ("ltsc2022", "ltsc2025")
SIZES = (10, 100, 1_000, 10_000)
LARGE = 1_000
MANIFESTS = 280  # so many classes make about 5,000 lines
PROGRAM = shutil.which("lockstep") or sys.exit("lockstep is not installed: make bench installs it")


def fleet(size: int) -> str:
    """Return a description of so many pools and as many classes, a third of them each with a pool of its own."""
    lines = ["lockstep_fleet:", '  kubernetes: "1.36.1"', '  containerd: "2.3.4"', "  pools:"]
    lines += [f"    pool-{n}: {{host: {BUILDS[n % 2]}}}" for n in range(size)]
    lines += ["  runtime_classes:"]
    for n in range(size):
        pools = f", pools: [pool-{n}]" if n % 3 == 0 else ""
        isolation = "process" if n // 2 % 2 else "hyperv, overhead: {memory: 512Mi}"
        lines.append(f"    class-{n}: {{isolation: {isolation}, guest: {BUILDS[n % 2]}{pools}}}")
    return "\n".join(lines) + "\n"


def measure(*arguments: object, runs: int) -> tuple[float, float]:
    """Return the median wall time in seconds and the largest peak memory in MB of a command."""
    seconds, peak = [], 0
    for _ in range(runs):
        began = time.perf_counter()
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.DEVNULL, cwd=ROOT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds.append(time.perf_counter() - began)
        if process.returncode:
            sys.exit(f"lockstep {' '.join(map(str, arguments))} ended with {process.returncode}")
        peak = max(peak, usage.ru_maxrss)
    return statistics.median(seconds), peak / 1024


def main() -> int:
    """Print the tables; return 1 where a limit is passed."""
    late = commands()
    print(flush=True)
    return 1 if late + scale.main() else 0


def commands() -> int:
    """Print how long the commands take; return how many figures are over their limit."""
    late = 0
    print(f"{'command':42} {'seconds':>8} {'limit':>6} {'MB':>6} {'limit':>6}")

    def row(name: str, seconds: float, megabytes: float, limits: tuple[float, float] | None) -> None:
        nonlocal late
        over = limits is not None and (seconds > limits[0] or megabytes > limits[1])
        late += over
        shown = (f"{limits[0]:6.1f}", f"{limits[1]:6.0f}") if limits else ("     -", "     -")
        print(f"{name:42} {seconds:8.2f} {shown[0]} {megabytes:6.0f} {shown[1]}{'  over' if over else ''}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for command in ("check", "render"):
            row(f"{command} -i inventories/demo", *measure(command, "-i", "inventories/demo", runs=7), (0.5, 300))
        row("explain LW210", *measure("explain", "LW210", runs=7), (0.3, 300))
        manifests = Path(folder) / "manifests"
        path = Path(folder) / "fleet.yml"
        path.write_text(fleet(MANIFESTS))
        subprocess.run([PROGRAM, "render", path, "-o", manifests], stdout=subprocess.DEVNULL, check=True)
        lines = sum(len(file.read_text().splitlines()) for file in manifests.iterdir())
        row(f"check, {lines:,} lines of manifests", *measure("check", manifests, runs=3), (3.0, 300))
        for size in SIZES:
            path = Path(folder) / f"{size}.yml"
            path.write_text(fleet(size))
            for command in ("check", "render"):
                limits = {10: (0.2 if command == "check" else 0.5, 300), 1_000: (2.0, 300)}.get(size)
                measured = measure(command, path, runs=7 if size < LARGE else 3)
                row(f"{command}, {size:,} pools and {size:,} classes", *measured, limits)
    return late


if __name__ == "__main__":
    sys.exit(main())
