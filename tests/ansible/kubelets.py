"""kubelet on a simulated node that has its programs and no service of it yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.ansible.nodes import Node

from lockstep.sim import NodeSpec
from lockstep.sim.kubelet.joining import CA
from lockstep.sim.programs import placeholder
from lockstep.sim.services import Service

CONFIG = r"C:\var\lib\kubelet\config.yaml"
ENV = r"C:\var\lib\kubelet\kubeadm-flags.env"
LOG = r"C:\var\log\kubelet\kubelet.log"
KUBELET_CONF = r"C:\etc\kubernetes\kubelet.conf"
BOOTSTRAP = r"C:\etc\kubernetes\bootstrap-kubelet.conf"
CA_FILE = r"C:\etc\kubernetes\pki\ca.crt"
HEALTH = "ask kubelet for its health at http://127.0.0.1:10248/healthz"
TOKEN = "abcdef.0123456789abcdef"  # noqa: S105 - of a simulated cluster
KUBECONFIG = f"""\
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "https://api.example:6443"}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
users: [{{name: u, user: {{token: {TOKEN}}}}}]
"""
JOINING = {"bootstrap_kubeconfig": KUBECONFIG, "client_ca": CA.read_text(encoding="ascii")}


def run(node: Node, **other: Any) -> dict[str, Any]:
    return node.planned("kubelet_config", **other)


def made(folder: Path, name: str = "win2025-0", **other: Any) -> Node:
    """A node that has all programs, and containerd running, but no kubelet service and no file of kubelet's."""
    node = Node(folder, NodeSpec(name, "ltsc2025", prepared="programs", **other))
    node.file("C:\\k\\nssm.exe").write_bytes(placeholder("nssm.exe", "2.24"))
    node.file("C:\\ProgramData\\containerd").mkdir(parents=True)
    line = r'"C:\Program Files\containerd\containerd.exe" --run-service --log-file C:\ProgramData\containerd\c.log'
    node.engine.services.add(Service("containerd", "Containerd", line))
    node.engine.services.start("containerd")
    return node


def service(node: Node) -> Service:
    found = node.engine.services.get("kubelet")
    assert found is not None
    return found


def memory(node: Node) -> dict[str, Any]:
    """What the running kubelet has in memory."""
    found = node.engine.machine.memory("kubelet")
    assert found is not None, "kubelet does not run"
    return dict(found)


def parameters(node: Node) -> dict[str, Any]:
    registry = json.loads((node.engine.folder / "registry.json").read_text())
    found = registry.get(r"SYSTEM\CurrentControlSet\Services\kubelet\Parameters", {})
    return {name: entry["value"] for name, entry in found.items()}


def files(node: Node) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in node.engine.folder.glob("C/**/*") if path.is_file()}
