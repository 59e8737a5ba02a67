"""A new node: Windows alone, or with containerd running and kubelet registered as after `kubeadm join` wrote its files.

Sources: containerd cmd/containerd/command/service_windows.go (registerService); kubernetes-sigs/sig-windows-tools
hostprocess/PrepareNode.ps1; kubernetes cmd/kubeadm/app/componentconfigs/kubelet_windows.go (what join writes on
Windows).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit

from lockstep.catalog.artifacts import artifact, default_version
from lockstep.catalog.builds import resolve
from lockstep.catalog.kubernetes import minor
from lockstep.catalog.versions import Version
from lockstep.sim import windows
from lockstep.sim.containerd.effective import effective
from lockstep.sim.containerd.loader import Loaded
from lockstep.sim.containerd.release import Release
from lockstep.sim.documents import write_json
from lockstep.sim.hardware import Hardware, new_server
from lockstep.sim.kubelet.joining import CA, KUBECONFIG
from lockstep.sim.machine import Facts
from lockstep.sim.programs import placeholder
from lockstep.sim.services import Service, Services

_NAME = re.compile(r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")
_CONTAINERD = "Program Files/containerd"
_KUBELET_CONFIG = """\
apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: C:/etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
  webhook:
    cacheAuthorizedTTL: 0s
    cacheUnauthorizedTTL: 0s
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
healthzBindAddress: 127.0.0.1
healthzPort: 10248
kind: KubeletConfiguration
resolvConf: ""
rotateCertificates: true
staticPodPath: C:/etc/kubernetes/manifests
"""
_CNI_CONFIG = '{"cniVersion": "1.0.0", "name": "simulated", "type": "sdnbridge"}\n'


PREPARED = ("services", "programs", "nothing")
"""What a new node has: its services registered and containerd running, the programs alone, or just Windows."""

_PROGRAMS = ("containerd", "crictl", "cni-plugins", "kubelet", "kubeadm", "kube-proxy", "kube-log-runner")
_KEYS = ("name", "build", "containerd", "kubernetes", "config_toml", "prepared", "bare", "machine", "port")


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """What a new node is: a Windows build as the catalogue spells it, full versions, whether it has a config.toml.

    `config_toml`: `none`, or `default` for what `containerd config default` prints. `port` is where it listens,
    None for any. `prepared` is one of PREPARED; a node with nothing keeps its versions for those who ask for them.
    `machine` has settings of Hardware.
    """

    name: str
    build: str = "26100"
    containerd: str = "2.3.4"
    kubernetes: str = "1.36.1"
    config_toml: str = "none"
    port: int | None = None
    prepared: str = "services"
    machine: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, entry: Any, common: Mapping[str, Any] | None = None) -> NodeSpec:
        """Return the node that an entry of a nodes file describes; `bare: true` is short for `prepared: nothing`.

        `common` has `prepared` and `machine` as they are where the entry says nothing. Raises ValueError where it is
        none.
        """
        if not isinstance(entry, Mapping) or "name" not in entry or set(entry) - set(_KEYS):
            raise ValueError(f"expected name and any of {', '.join(_KEYS[1:])}")
        values = dict(entry)
        port, bare, machine = values.pop("port", None), values.pop("bare", False), values.pop("machine", {})
        if port is not None and (not isinstance(port, int) or isinstance(port, bool)):
            raise ValueError("port is a number")
        if not isinstance(bare, bool):
            raise ValueError("bare is true or false")  # noqa: TRY004 - wrong YAML, as any other here
        if not isinstance(machine, Mapping):
            raise ValueError("machine holds settings")  # noqa: TRY004
        wrong = [key for key, value in values.items() if not isinstance(value, str)]
        if wrong and wrong != ["build"]:
            raise ValueError(f"{wrong[0]} is text: quote it")
        texts = {key: str(value) for key, value in values.items()}
        if bare and texts.setdefault("prepared", "nothing") != "nothing":
            raise ValueError(f"bare: true and prepared: {texts['prepared']} contradict each other")
        usual = common or {}
        if "prepared" in usual and "bare" not in entry:
            texts.setdefault("prepared", usual["prepared"])
        return cls(**texts, port=port, machine={**usual.get("machine", {}), **machine})

    def facts(self) -> Facts:
        """Return the node's facts; raises ValueError for a build or version that is none."""
        if not _NAME.match(self.name):
            raise ValueError(f"'{self.name}' is no node name: lower-case letters, digits and hyphens, at most 63")
        build = resolve(self.build)
        # A revision of 1 is the build as it was released, before any update.
        revision = build.revision if build.revision is not None else 1
        product = f"{build.product} Datacenter" if build.product.startswith("Windows Server") else build.product
        Release.of(self.containerd)
        minor(self.kubernetes)
        if self.config_toml not in ("none", "default"):
            raise ValueError(f"config_toml of node {self.name} is none or default, not {self.config_toml}")
        if self.prepared not in PREPARED:
            raise ValueError(f"prepared of node {self.name} is one of {', '.join(PREPARED)}, not {self.prepared}")
        Hardware.of(self.machine)
        containerd, kubernetes = Version.parse(self.containerd), Version.parse(self.kubernetes)
        return Facts(self.name, f"{build.label}.{revision}", product, str(containerd), str(kubernetes))


def lay_out(folder: Path, spec: NodeSpec) -> None:
    """Make the folder of a new node. Raises ValueError for a build or version that is none."""
    facts = spec.facts()
    windows.install(folder, facts, Hardware.of(spec.machine), _features(spec))
    if spec.prepared != "nothing":
        _place_programs(folder / "C", facts)
    if spec.prepared == "services":
        _write(folder / "C/var/lib/kubelet/config.yaml", _KUBELET_CONFIG.encode())
        _write(folder / "C/etc/kubernetes/kubelet.conf", KUBECONFIG.encode())
        _write(folder / "C/etc/kubernetes/pki/ca.crt", CA.read_bytes())
        _write(folder / "C" / _CONTAINERD / "cni/conf/10-simulated.conf", _CNI_CONFIG.encode())
        (folder / "C/ProgramData/containerd").mkdir(parents=True)
    if spec.config_toml == "default":
        release = Release.of(facts.containerd)
        newest = 2 if release.major == 1 else release.config_version
        config = effective(release, Loaded({"version": newest})).config
        _write(folder / "C" / _CONTAINERD / "config.toml", tomlkit.dumps(config).encode())
    write_json(folder / "node.json", facts.data())


def _features(spec: NodeSpec) -> Sequence[str]:
    """Return the features of Windows that a new node has installed."""
    return () if spec.prepared == "nothing" else tuple(new_server()["features"])


def _place_programs(drive: Path, facts: Facts) -> None:
    """Install the programs where Lockstep has them, at the node's versions."""
    versions = {"containerd": facts.containerd, "kubelet": facts.kubernetes}
    for name in _PROGRAMS:
        release = artifact(name, versions.get(name) or default_version(name, versions) or "")
        folder = drive / release.folder.removeprefix("C:\\").replace("\\", "/")
        folder.mkdir(parents=True, exist_ok=True)
        for _, program in release.files:
            (folder / program).write_bytes(placeholder(program, release.version))


def start(services: Services, spec: NodeSpec) -> None:
    """Register the services of a new node and start them. kubelet has not run yet: its Node is not registered."""
    own = windows.services(_features(spec))
    for service in own:
        service.state = "running" if service.start_type == "automatic" else "stopped"
    if spec.prepared != "services":
        services.add(*own)
        return
    log = "C:\\ProgramData\\containerd\\containerd.log"
    containerd = f'"C:\\Program Files\\containerd\\containerd.exe" --run-service --log-file {log}'
    kubelet = (
        "C:\\k\\kubelet.exe --windows-service --config=C:\\var\\lib\\kubelet\\config.yaml "
        "--bootstrap-kubeconfig=C:\\etc\\kubernetes\\bootstrap-kubelet.conf "
        f"--kubeconfig=C:\\etc\\kubernetes\\kubelet.conf --hostname-override={services.node_name}"
    )
    services.add(
        *own,
        Service("containerd", "Containerd", containerd),
        Service("kubelet", "kubelet", kubelet, depends_on=["containerd"]),
    )
    services.start("containerd")


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
