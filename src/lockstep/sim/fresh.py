"""A new node: Windows with containerd running and kubelet registered, as after `kubeadm join` wrote its files.

Sources: containerd cmd/containerd/command/service_windows.go (registerService); kubernetes-sigs/sig-windows-tools
hostprocess/PrepareNode.ps1; kubernetes cmd/kubeadm/app/componentconfigs/kubelet_windows.go (what join writes on
Windows).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import tomlkit

from lockstep.catalog.builds import resolve
from lockstep.catalog.kubernetes import minor
from lockstep.catalog.versions import Version
from lockstep.sim.containerd.effective import effective
from lockstep.sim.containerd.loader import Loaded
from lockstep.sim.containerd.release import Release
from lockstep.sim.machine import Facts, write_json
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


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """What a new node is: a Windows build as the catalogue spells it, full versions, whether it has a config.toml.

    `config_toml`: `none`, or `default` for what `containerd config default` prints. `port` is where it listens,
    None for any.
    """

    name: str
    build: str = "26100"
    containerd: str = "2.3.4"
    kubernetes: str = "1.36.1"
    config_toml: str = "none"
    port: int | None = None

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
        containerd, kubernetes = Version.parse(self.containerd), Version.parse(self.kubernetes)
        return Facts(self.name, f"{build.label}.{revision}", product, str(containerd), str(kubernetes))


def lay_out(folder: Path, spec: NodeSpec) -> None:
    """Make the folder of a new node. Raises ValueError for a build or version that is none."""
    facts = spec.facts()
    drive = folder / "C"
    programs = {
        f"{_CONTAINERD}/containerd.exe": ("containerd.exe", facts.containerd),
        f"{_CONTAINERD}/ctr.exe": ("ctr.exe", facts.containerd),
        f"{_CONTAINERD}/crictl.exe": ("crictl.exe", f"{'.'.join(facts.kubernetes.split('.')[:2])}.0"),
        "k/kubelet.exe": ("kubelet.exe", facts.kubernetes),
    }
    for path, (name, version) in programs.items():
        _write(drive / path, placeholder(name, version))
    _write(drive / "var/lib/kubelet/config.yaml", _KUBELET_CONFIG.encode())
    _write(drive / _CONTAINERD / "cni/conf/10-simulated.conf", _CNI_CONFIG.encode())
    (drive / "ProgramData/containerd").mkdir(parents=True)
    (drive / "Windows/System32").mkdir(parents=True)
    if spec.config_toml == "default":
        release = Release.of(facts.containerd)
        newest = 2 if release.major == 1 else release.config_version
        config = effective(release, Loaded({"version": newest})).config
        _write(drive / _CONTAINERD / "config.toml", tomlkit.dumps(config).encode())
    write_json(folder / "node.json", facts.data())


def start(services: Services) -> None:
    """Register the services of a new node and start containerd. kubelet has not run yet: its Node is not registered."""
    name = services.node_name
    log = "C:\\ProgramData\\containerd\\containerd.log"
    containerd = f'"C:\\Program Files\\containerd\\containerd.exe" --run-service --log-file {log}'
    kubelet = (
        "C:\\k\\kubelet.exe --windows-service --config=C:\\var\\lib\\kubelet\\config.yaml "
        "--bootstrap-kubeconfig=C:\\etc\\kubernetes\\bootstrap-kubelet.conf "
        f"--kubeconfig=C:\\etc\\kubernetes\\kubelet.conf --hostname-override={name}"
    )
    services.add(Service("containerd", "Containerd", containerd))
    services.add(Service("kubelet", "kubelet", kubelet, depends_on=["containerd"]))
    services.start("containerd")


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
