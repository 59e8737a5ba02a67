"""The main job on simulated nodes, from bare servers: provision, render, verify, provision again. `make demo` runs it.

Everything happens through the programs that a user runs; this script only starts them, counts, and prints.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "demo"
READY = BUILD / "nodes.pid"
INVENTORY = "inventories/demo"
# Names, builds, versions and ports are the inventory's; the simulated nodes are told the same.
NODES = {"win2022-0": (20348, 15985), "win2025-0": (26100, 15986)}
CONTAINERD, KUBERNETES = "2.3.4", "1.36.1"
API = f"http://127.0.0.1:{min(port for _, port in NODES.values())}"
RECAP = re.compile(r"^(\S+)\s+: ok=(\d+)\s+changed=(\d+)\s+unreachable=(\d+)\s+failed=(\d+)", re.MULTILINE)


def main() -> int:
    """Run the demo; the exit status is 0 only if everything agrees and the second run changed nothing."""
    if taken := [port for _, port in NODES.values() if in_use(port)]:
        print(
            f"Port {taken[0]} is in use: end what listens there, perhaps another demo, and try again.", file=sys.stderr
        )
        return 2
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    simulator = start_nodes()
    try:
        return demo()
    except StepError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    finally:
        simulator.send_signal(signal.SIGTERM)
        simulator.wait(timeout=10)


class StepError(Exception):
    """A step of the demo that failed."""


def demo() -> int:
    """Provision, render, verify, provision again, prove."""
    playbook("provision", "Provision both servers over WinRM")
    playbook("render", "Render the RuntimeClasses", "-e", f"lockstep_manifests={BUILD / 'manifests'}")
    playbook("observe", "Read what is in effect on the nodes", "-e", f"lockstep_observed={BUILD / 'observed'}")
    second = playbook("provision", "Provision again")
    print("\nProve that description, nodes and manifests agree\n", flush=True)
    proof = subprocess.run(
        ["lockstep", "verify", "-i", INVENTORY, "--manifests", BUILD / "manifests", "--observed", BUILD / "observed",
         "--nodes", f"{API}/api/v1/nodes"],
        cwd=ROOT, check=False,
    )  # fmt: skip
    print(f"Look around: {BUILD.relative_to(ROOT)}/ holds the nodes' disks, the manifests and the logs.")
    if second.changed:
        raise StepError("The second run changed something; it should not have.")
    return proof.returncode


class Run:
    """What one playbook run did."""

    def __init__(self, seconds: float, changed: int, requests: int) -> None:
        self.seconds, self.changed, self.requests = seconds, changed, requests

    def __str__(self) -> str:
        """Return the run in a few words."""
        changes = f"{self.changed} change{'' if self.changed == 1 else 's'}"
        return f"{self.seconds:.0f} s, {changes}, {self.requests} WinRM requests a node"


def playbook(name: str, title: str, *arguments: str) -> Run:
    """Run one playbook, its output in a log; raise StepError with the output where it fails."""
    print(f"{title:44} ", end="", flush=True)
    before, began = most_requests(), time.monotonic()
    result = subprocess.run(
        ["ansible-playbook", "-i", INVENTORY, f"playbooks/{name}.yml", *arguments],
        cwd=ROOT, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
    )  # fmt: skip
    log = BUILD / f"{name}.log"
    log.write_text(result.stdout)
    if result.returncode:
        print(f"failed\n\n{result.stdout}")
        raise StepError(f"playbooks/{name}.yml failed; its output is above and in {log.relative_to(ROOT)}.")
    changed = sum(int(count) for _, _, count, _, _ in RECAP.findall(result.stdout))
    run = Run(time.monotonic() - began, changed, most_requests() - before)
    print(run, flush=True)
    return run


def start_nodes() -> subprocess.Popen[bytes]:
    """Start the simulated nodes and wait until they answer."""
    nodes = [f"--node={name}={build},{CONTAINERD},{KUBERNETES},{port}" for name, (build, port) in NODES.items()]
    command = ["lockstep", "sim", "--bare", "--state", str(BUILD / "nodes"), "--pid-file", str(READY), *nodes]
    with (BUILD / "nodes.log").open("wb") as log:
        simulator = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and simulator.poll() is None:
        if READY.exists():
            print(f"{'Simulated Windows Servers, just installed':44} {', '.join(NODES)}", flush=True)
            return simulator
        time.sleep(0.05)
    simulator.kill()
    sys.exit(f"The simulated nodes did not start:\n{(BUILD / 'nodes.log').read_text()}")


def in_use(port: int) -> bool:
    """Return whether something listens on this port of the loopback already."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def most_requests() -> int:
    """Return how many WinRM requests the busiest node has answered so far."""
    with urllib.request.urlopen(f"{API}/stats", timeout=5) as reply:
        return max(int(node["requests"]) for node in json.load(reply)["nodes"].values())


if __name__ == "__main__":
    sys.exit(main())
