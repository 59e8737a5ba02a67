"""How kubelet finds its cluster, who may ask it, and the programs that give it credentials for images.

Sources: kubernetes v1.36.1 cmd/kubelet/app/server.go (run, buildKubeletClientConfig), cmd/kubelet/app/auth.go
(BuildAuthn, BuildAuthz), pkg/kubelet/certificate/bootstrap/bootstrap.go (LoadClientConfig),
pkg/credentialprovider/plugin/{config,plugin}.go, pkg/kubelet/apis/config/v1beta1/defaults.go (webhooks by default).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lockstep.sim.disk import DiskError
from lockstep.sim.kubelet.arguments import KubeletError
from lockstep.sim.machine import Machine

CA = Path(__file__).with_name("ca.crt")
"""The certificate of a cluster's CA; nobody has its key."""
_PEM = "/var/lib/kubelet/pki/kubelet-client-current.pem"
KUBECONFIG = f"""\
apiVersion: v1
kind: Config
clusters:
- name: default-cluster
  cluster:
    server: https://kubernetes.example:6443
    certificate-authority: C:/etc/kubernetes/pki/ca.crt
contexts:
- name: default-context
  context:
    cluster: default-cluster
    user: default-auth
current-context: default-context
users:
- name: default-auth
  user:
    client-certificate: {_PEM}
    client-key: {_PEM}
"""
"""What kubelet has once it has joined."""
_NOT_FOUND = "The system cannot find the file specified."


def join(machine: Machine, flags: Mapping[str, str]) -> bool:
    """Return whether this kubelet has a cluster; one that bootstraps gets its kubeconfig. Raises KubeletError."""
    kubeconfig, bootstrap = flags.get("kubeconfig", ""), flags.get("bootstrap-kubeconfig", "")
    if not kubeconfig:
        return False
    if machine.disk.exists(kubeconfig):
        return True
    if not bootstrap:
        raise _late(f"invalid kubeconfig: stat {kubeconfig}: {_NOT_FOUND}")
    content = machine.disk.read(bootstrap)
    if content is None:
        raise _late(f"unable to load bootstrap kubeconfig: stat {bootstrap}: {_NOT_FOUND}")
    try:
        document = yaml.safe_load(content)
        clusters = document["clusters"]
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, KeyError):
        raise _late("unable to load bootstrap kubeconfig: invalid configuration") from None
    own = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": clusters,
        "contexts": [{"name": "default-context", "context": {"cluster": clusters[0]["name"], "user": "default-auth"}}],
        "current-context": "default-context",
        "users": [{"name": "default-auth", "user": _certificate(flags)}],
    }
    try:
        machine.disk.make_folder(kubeconfig.replace("/", "\\").rpartition("\\")[0])
        machine.disk.write(kubeconfig, yaml.safe_dump(own, sort_keys=False).encode())
    except DiskError as error:
        raise _late(f"failed to write {kubeconfig}: {error.message}") from None
    return True


def check_access(machine: Machine, values: Mapping[str, Any], *, joined: bool) -> None:
    """Raise KubeletError where those who ask this kubelet could not be told apart."""
    authentication = values.get("authentication") or {}
    ca = (authentication.get("x509") or {}).get("clientCAFile")
    if ca and not machine.disk.exists(ca.replace("/", "\\")):
        raise _late(f'error loading client CA file: unable to load client CA file "{ca}": open {ca}: {_NOT_FOUND}')
    if joined:
        return
    if (authentication.get("webhook") or {}).get("enabled", True):
        raise _late("no client provided, cannot use webhook authentication")
    if ((values.get("authorization") or {}).get("mode") or "Webhook") == "Webhook":
        raise _late("no client provided, cannot use webhook authorization")


def check_providers(machine: Machine, flags: Mapping[str, str]) -> None:
    """Raise KubeletError for credential providers that are not there."""
    path, folder = flags.get("image-credential-provider-config"), flags.get("image-credential-provider-bin-dir")
    if not path and not folder:
        return
    if not path or not folder:
        raise _late("failed to register CRI auth plugins: both flags of the image credential provider are needed")
    content = machine.disk.read(path)
    if content is None:
        raise _late(f'failed to register CRI auth plugins: unable to access path "{path}": {_NOT_FOUND}')
    if not machine.disk.is_folder(folder):
        raise _late(f"failed to register CRI auth plugins: plugin binary directory {folder} did not exist")
    document = yaml.safe_load(content)
    for provider in document.get("providers") or ():
        program = f"{folder}\\{provider['name']}"
        if not machine.disk.exists(program) and not machine.disk.exists(f"{program}.exe"):
            raise _late(f"failed to register CRI auth plugins: plugin binary executable {program} did not exist")


def _certificate(flags: Mapping[str, str]) -> dict[str, str]:
    folder = flags.get("cert-dir", "/var/lib/kubelet/pki").rstrip("/\\")
    pem = f"{folder}/kubelet-client-current.pem"
    return {"client-certificate": pem, "client-key": pem}


def _late(words: str) -> KubeletError:
    """Return an error of a kubelet that has told the service manager already that it runs."""
    return KubeletError(f"failed to run Kubelet: {words}", before_ready=False)
