"""Plays the nodes of a molecule scenario on the Windows stand-in: what `lockstep sim` does for the emulated engine.

    python -m tests.standin.nodes start FOLDER NODES    makes FOLDER/<node> for each node of a nodes.yml, and boots it
    python -m tests.standin.nodes stop FOLDER NODES     pulls the plug and removes them

A node begins as a simulated one does (lockstep.sim), with programs that are real: containerd as the service that it
registers itself, with its own default config.toml where the scenario asks for one; ctr.exe and crictl.exe beside it;
and the kubelet of this folder, which registers Nodes in FOLDER/cluster/nodes, where `lockstep sim` looks for them.

LOCKSTEP_WINDOWS_NODE names the stand-in, LOCKSTEP_CONTAINERD_DIR the programs (tests/standin/build.py).
LOCKSTEP_WINDOWS_TEMPLATES may name a folder for new, empty nodes, one a build: the next node of a build is a copy,
which takes a second instead of a quarter of a minute.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from tests.node.support import standin
from tests.node.support.cases import PROGRAM, ServiceBefore
from tests.standin import build

from lockstep.catalog.builds import resolve
from lockstep.sim import NodeSpec, SimulatedNodes

PROGRAMS = "LOCKSTEP_CONTAINERD_DIR"
TEMPLATES = "LOCKSTEP_WINDOWS_TEMPLATES"
CONTAINERD = r"C:\Program Files\containerd\containerd.exe"
KUBELET = r"C:\k\kubelet.exe"
CONFIG_TOML = r"C:\Program Files\containerd\config.toml"
KUBECONFIG = r"C:\etc\kubernetes\kubelet.conf"
_LOG = r"C:\ProgramData\containerd\containerd.log"
_LIMIT = 120


class ProgramError(Exception):
    """A program on a node failed: which, and what it said."""


def missing() -> str | None:
    """Return why no scenario can run on the stand-in here, or None."""
    if reason := standin.missing():
        return reason
    if not os.environ.get(PROGRAMS):
        return f"{PROGRAMS} does not name a folder with the programs of tests/standin/build.py"
    if lacking := build.missing(Path(os.environ[PROGRAMS])):
        return f"{lacking[0]} is missing: python -m tests.standin.build {os.environ[PROGRAMS]}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("order", choices=("start", "stop"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("nodes", type=Path)
    options = parser.parse_args()
    specs = [NodeSpec.of(entry) for entry in yaml.safe_load(options.nodes.read_text(encoding="utf-8"))]
    if options.order == "start" and (reason := missing()):
        sys.stderr.write(f"{reason}\n")
        return 1
    for spec in specs:
        if options.order == "start":
            start(options.folder.resolve(), spec)
        else:
            stop(options.folder.resolve() / spec.name)
    return 0


def start(folder: Path, spec: NodeSpec) -> standin.Node:
    """Return a new node, prepared as its entry says.

    With services, containerd runs and kubelet is registered as a service, but not yet with the cluster.
    """
    node = boot(folder / spec.name, resolve(spec.build).number)
    if spec.prepared == "nothing":
        return node
    programs = Path(os.environ[PROGRAMS])
    _install(node, build.containerd(programs, spec.containerd), CONTAINERD)
    _install(node, build.containerd(programs, spec.containerd, "ctr.exe"), CONTAINERD)
    _install(node, build.crictl(programs), CONTAINERD)
    _install(node, build.kubelet(programs), KUBELET)
    _install(node, build.log_runner(programs), KUBELET)
    node.place(KUBELET).with_name("kubelet.version").write_text(f"{spec.kubernetes}\n", encoding="ascii")
    standin.build_program(node.place(PROGRAM))
    if spec.prepared == "programs":
        return node
    kubelet = _as_simulated(node, spec)
    server = f"file:///Z:{(folder / 'cluster' / 'nodes').as_posix()}"
    _write(node.place(KUBECONFIG), yaml.safe_dump({"clusters": [{"cluster": {"server": server}}]}).encode())
    if spec.config_toml == "default":
        _write(node.place(CONFIG_TOML), run(node, CONTAINERD, "config", "default"))
    node.place(_LOG).parent.mkdir(parents=True, exist_ok=True)
    run(node, CONTAINERD, "--log-file", _LOG, "--register-service")
    node.prepare([ServiceBefore("kubelet", kubelet, depends_on=("containerd",), automatic=True)])
    run(node, "sc.exe", "start", "containerd")
    wait_for(node, "containerd")
    return node


def stop(folder: Path) -> None:
    """Pull a node's plug and remove it."""
    if folder.exists():
        standin.Node(folder).power("stop")
        shutil.rmtree(folder)


def boot(folder: Path, number: int) -> standin.Node:
    """Return a new, empty node of a Windows build, running."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    templates = os.environ.get(TEMPLATES)
    if templates:
        template = Path(templates) / str(number)
        if not template.exists():
            _power("start", template, number)
            _power("stop", template)
        # cp, because Wine's folders hold symbolic links to what is not there.
        subprocess.run(["cp", "-a", "--reflink=auto", template, folder], check=True)
    _power("start", folder, number)
    node = standin.Node(folder)
    # A machine that boots has its service manager a moment later.
    until_it_ends_well(node, "sc.exe", "query", "PlugPlay")
    return node


def wait_for(node: standin.Node, service: str) -> None:
    """Wait until a service runs. Raises TimeoutError."""
    deadline = time.monotonic() + _LIMIT
    while node.states([service])[service].state != "running":
        if time.monotonic() > deadline:
            raise TimeoutError(f"{node.folder.name}: {service} does not run")
        time.sleep(0.2)


def until_it_ends_well(node: standin.Node, program: str, *arguments: str) -> bytes:
    """Run a program again and again until it ends with 0, and return its standard output. Raises ProgramError."""
    deadline = time.monotonic() + _LIMIT
    while True:
        try:
            return run(node, program, *arguments)
        except ProgramError:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.2)


def run(node: standin.Node, program: str, *arguments: str) -> bytes:
    """Run a program on a node and return its standard output. Raises ProgramError."""
    command = [os.environ[standin.VARIABLE], "run", str(node.folder), program, *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_LIMIT)
    if done.returncode:
        said = (done.stderr + done.stdout).decode(errors="replace").strip()
        raise ProgramError(f"{node.folder.name}: {program} {' '.join(arguments)} failed ({done.returncode}): {said}")
    return done.stdout


def _power(order: str, folder: Path, number: int | None = None) -> None:
    command = [os.environ[standin.VARIABLE], order, str(folder), *(["--build", str(number)] if number else [])]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_LIMIT)


def _as_simulated(node: standin.Node, spec: NodeSpec) -> str:
    """Lay out the files that a new simulated node has beside its programs; return its kubelet's command line."""
    with tempfile.TemporaryDirectory(prefix="lockstep-standin-") as name:
        simulated = SimulatedNodes(Path(name), [spec]).engine(spec.name)
        drive = Path(name) / spec.name / "C"
        for path in ("var/lib/kubelet/config.yaml", "Program Files/containerd/cni/conf/10-simulated.conf"):
            _write(node.folder / "drive_c" / path, (drive / path).read_bytes())
        service = simulated.services.get("kubelet")
        assert service is not None
        return service.binary_path


def _install(node: standin.Node, program: Path, beside: str) -> None:
    place = node.place(beside).with_name(program.name)
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(program, place)


def _write(place: Path, data: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)


if __name__ == "__main__":
    sys.exit(main())
