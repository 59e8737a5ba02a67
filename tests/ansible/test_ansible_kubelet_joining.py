"""kubelet without a cluster and with one: standalone, bootstrapping, what kubeadm left, secrets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.ansible.kubelets import (
    BOOTSTRAP,
    CA_FILE,
    CONFIG,
    ENV,
    JOINING,
    KUBECONFIG,
    KUBELET_CONF,
    TOKEN,
    made,
    memory,
    run,
)
from tests.ansible.nodes import Node

from lockstep.ansible.errors import TaskError
from lockstep.sim.kubelet.joining import CA


def test_without_a_cluster_kubelet_runs_standalone_and_lets_nobody_in(fresh: Node) -> None:
    result = run(fresh)
    assert (result["joined"], result["registered"]) == (False, False)
    configuration = memory(fresh)["configuration"]
    assert configuration["authentication"] == {"anonymous": {"enabled": False}, "webhook": {"enabled": False}}
    assert configuration["authorization"] == {"mode": "AlwaysAllow"}
    assert fresh.engine.machine.cluster.get("win2025-0") is None
    assert "kubeconfig" not in result["command_line"]
    assert run(fresh, node_labels={"a": "b"})["warnings"] == []


def test_with_a_bootstrap_kubeconfig_it_joins_and_what_it_joined_with_is_left_alone_then(fresh: Node) -> None:
    result = run(fresh, **JOINING)
    assert (result["joined"], result["registered"]) == (True, False)
    assert fresh.file(BOOTSTRAP).read_text() == KUBECONFIG
    assert fresh.file(CA_FILE).read_bytes() == CA.read_bytes()
    assert fresh.file(KUBELET_CONF).is_file()
    node = fresh.engine.machine.cluster.get("win2025-0")
    assert node is not None
    assert node["metadata"]["labels"]["lockstep.windows/pool"] == "win2025"
    fields = yaml.safe_load(fresh.file(CONFIG).read_text())
    assert fields["authentication"] == {"x509": {"clientCAFile": "C:/etc/kubernetes/pki/ca.crt"}}
    assert fields["rotateCertificates"] is True
    assert "authorization" not in fields
    fresh.file(BOOTSTRAP).unlink()
    assert not run(fresh, **{**JOINING, "bootstrap_kubeconfig": KUBECONFIG.replace("api", "other")})["changed"]
    assert not fresh.file(BOOTSTRAP).exists()


@pytest.mark.parametrize("by", ["role", "kubeadm"])
def test_a_standalone_kubelet_gets_its_cluster_later(fresh: Node, by: str) -> None:
    run(fresh)
    joining: dict[str, Any] = JOINING
    if by == "kubeadm":
        joining = {}
        fresh.file(CA_FILE).parent.mkdir(parents=True)
        fresh.file(CA_FILE).write_bytes(CA.read_bytes())
        fresh.file(KUBELET_CONF).write_text(KUBECONFIG)
    result = run(fresh, **joining)
    assert (result["joined"], result["registered"], result["warnings"]) == (True, False, [])
    configuration = memory(fresh)["configuration"]
    assert configuration["authentication"]["webhook"] == {"enabled": True}
    assert configuration["authorization"] == {"mode": "Webhook"}
    assert configuration["authentication"]["x509"] == {"clientCAFile": "C:/etc/kubernetes/pki/ca.crt"}
    assert fresh.engine.machine.cluster.get("win2025-0") is not None
    assert not run(fresh, **joining)["changed"]
    assert run(fresh, **joining)["registered"]


def test_secrets_are_nowhere_but_on_the_node(fresh: Node) -> None:
    fresh.file("C:\\k\\credential-providers").mkdir()
    fresh.file("C:\\k\\credential-providers\\p.exe").write_bytes(b"x")
    provider = {
        "name": "p",
        "matchImages": ["*.example"],
        "defaultCacheDuration": "1h",
        "env": [{"name": "PASSWORD", "value": "hunter2"}],
    }
    fresh.engine.faults.add(kind="service", name="kubelet", does="exits")
    with pytest.raises(TaskError) as raised:
        run(fresh, **JOINING, credential_providers=[provider])
    told = [str(raised.value), json.dumps(raised.value.result)]
    told += [json.dumps(run(fresh, **JOINING, credential_providers=[provider]))]
    told += [json.dumps(run(fresh, **JOINING, credential_providers=[{**provider, "args": ["a"]}], check_mode=True))]
    told += [json.dumps(run(fresh, **JOINING, credential_providers=[provider])), json.dumps(memory(fresh))]
    assert not [text for text in told if TOKEN in text or "hunter2" in text]
    assert "hunter2" in fresh.file(r"C:\etc\kubernetes\credential-providers.yaml").read_text()
    assert memory(fresh)["flags"]["image-credential-provider-bin-dir"] == r"C:\k\credential-providers"


def test_what_kubeadm_left_is_on_the_command_line_and_what_the_release_lacks_is_told(fresh: Node) -> None:
    fresh.file(ENV).parent.mkdir(parents=True)
    fresh.file(ENV).write_text(
        'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=npipe:////./pipe/containerd-containerd '
        "--hostname-override=node-7 --node-labels=example.com/rack=7 "
        '--pod-infra-container-image=registry.k8s.io/pause:3.10"\n'
    )
    result = run(fresh)
    flags = memory(fresh)["flags"]
    assert flags["hostname-override"] == "node-7"
    assert flags["node-labels"] == "example.com/rack=7,lockstep.windows/pool=win2025"
    assert "container-runtime-endpoint" not in flags, "that is in the file, which it would override"
    [warning] = result["warnings"]
    assert "--pod-infra-container-image: it was removed in 1.35" in warning
    again = run(fresh)
    assert (again["changed"], again["warnings"]) == (False, [])
    fresh.file(ENV).write_text('KUBELET_KUBEADM_ARGS=""\n')
    assert not run(fresh)["changed"]
    fresh.file(ENV).write_text('KUBELET_KUBEADM_ARGS="--hostname-override=node-8"\n')
    assert "--hostname-override=node-8" in run(fresh)["command_line"]
    assert "--hostname-override=mine" in run(fresh, hostname_override="mine")["command_line"]


def test_kubeadm_would_put_another_endpoint_back(fresh: Node) -> None:
    fresh.file(ENV).parent.mkdir(parents=True)
    text = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncontainerRuntimeEndpoint: {}\n"
    own = fresh.file(r"C:\var\lib\kubelet\instance-config.yaml")
    own.write_text(text.format("npipe:////./pipe/other"))
    [warning] = run(fresh)["warnings"]
    assert "when it upgrades the node" in warning
    own.write_text(text.format("npipe:////./pipe/containerd-containerd"))
    assert run(fresh)["warnings"] == []


def test_the_node_s_name_is_the_whole_host_name_and_not_what_netbios_has_of_it(tmp_path: Path) -> None:
    node = made(tmp_path, "win2025-in-the-cellar")
    run(node, **JOINING)
    assert node.engine.machine.cluster.get("win2025-in-the-cellar") is not None
    [warning] = run(node, **JOINING, node_labels={"a": "b"}, prune_node_labels=False)["warnings"]
    assert "kubectl label node win2025-in-the-cellar --overwrite a=b" in warning


def test_secrets_lie_where_administrators_alone_may_read_them(fresh: Node, tmp_path: Path) -> None:
    assert run(fresh, **JOINING)["warnings"] == []
    access = json.loads((fresh.engine.folder / "access.json").read_text())
    assert access[r"c:\etc\kubernetes"] == access[r"c:\var\log\kubelet"] == "D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
    other = made(tmp_path, "other")
    other.file(BOOTSTRAP).parent.mkdir(parents=True)
    [warning] = run(other, **JOINING)["warnings"]
    assert r"others than administrators may use C:\etc\kubernetes" in warning
    assert run(other, **JOINING)["warnings"] == []
