"""What lockstep_node_info tells of a node, and what it does not."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.ansible.nodes import MakeNode, Node

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node_info.observe import observe
from lockstep.ansible.spec import documentation
from lockstep.node.operations import (
    define_service,
    read_features,
    read_firewall,
    restart_service,
    write_file,
    write_registry,
)
from lockstep.node.session import Session
from lockstep.sim.programs import placeholder

ROOT = Path(__file__).parents[2]
PKI = r"C:\var\lib\kubelet\pki"
SECRET = "correct horse battery staple"  # noqa: S105 - what nobody may read
LOG_RUNNER = r"C:\k\kube-log-runner.exe --log-file=C:\var\log\kubelet\kubelet.log "
KUBELET = r"C:\k\kubelet.exe --windows-service --config=C:\var\lib\kubelet\config.yaml --node-labels=a=b"


def observed(node: Node, **arguments: Any) -> dict[str, Any]:
    result = node.do("lockstep_node_info", **arguments)
    assert not result["changed"]
    assert result["ansible_facts"] == {"lockstep_node": result["node"]}
    return dict(result["node"])


def put(node: Node, path: str, content: bytes) -> None:
    file = node.file(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def certificate(days: int, name: str = "system:node:win2025-0") -> bytes:
    """A certificate that ends in so many days, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    names = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    ends = datetime.now(UTC) + timedelta(days=days, minutes=5)
    made = (
        x509.CertificateBuilder()
        .subject_name(names)
        .issuer_name(names)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(ends - timedelta(days=3650))
        .not_valid_after(ends)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    return made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain
    )


def test_one_request_tells_everything(node: Node) -> None:
    facts = observed(node)
    assert node.requests == 1
    assert facts["errors"] == {}
    assert facts["name"] == "win2025-0"
    assert facts["windows"]["build"].startswith("10.0.26100.")
    assert facts["versions"]["containerd"] == "2.3.4"
    assert facts["versions"]["kubelet"] == "1.36.1"
    assert facts["services"]["containerd"]["state"] == "running"
    assert facts["services"]["kubelet"]["state"] == "stopped"
    assert facts["containerd"]["loaded_handlers"] == ["runhcs-wcow-hypervisor", "runhcs-wcow-process"]
    assert facts["containerd"]["default_handler"] == "runhcs-wcow-process"
    assert facts["kubelet"]["configuration"]["clusterDomain"] == "cluster.local"
    assert facts["kubelet"]["flags"]["hostname-override"] == "win2025-0"
    assert facts["features"]["Containers"] == "installed"


def test_what_is_returned_is_documented_and_small_plain_data(node: Node) -> None:
    documented = documentation(ROOT / "library" / "lockstep_node_info.py", "RETURN")
    facts = observed(node, firewall_rules=["kubelet"])
    assert set(facts) == set(documented["node"]["contains"])
    assert len(json.dumps(facts)) < 16 * 1024


def test_of_a_bare_node_everything_absent_is_data(make_node: MakeNode) -> None:
    facts = observed(make_node(prepared="nothing"), firewall_rules=["kubelet"])
    assert facts["errors"] == {}
    assert facts["versions"] == dict.fromkeys(("containerd", "crictl", "kubelet", "kube_proxy"))
    assert {name: service["exists"] for name, service in facts["services"].items()} == {
        "containerd": False,
        "kubelet": False,
        "kube_proxy": False,
    }
    assert facts["containerd"]["exists"] is facts["kubelet"]["exists"] is False
    assert facts["containerd"]["loaded_handlers"] is None
    assert "handlers" not in facts["containerd"]
    assert facts["features"]["Containers"] == "available"
    assert facts["firewall"] == {"kubelet": None}
    assert facts["store"]["entries"] == []
    assert all(not each["exists"] for each in facts["certificates"].values())
    assert facts["machine"]["memory_bytes"] > 0


def test_programs_without_services_have_versions(make_node: MakeNode) -> None:
    facts = observed(make_node(prepared="programs"))
    assert facts["versions"]["containerd"] == "2.3.4"
    assert facts["versions"]["kubelet"] == "1.36.1"
    assert not facts["services"]["containerd"]["exists"]


@pytest.mark.parametrize(("days", "left"), [(200, 200), (1, 1), (0, 0), (-1, -1)])
def test_certificates_are_told_with_the_days_that_are_left(node: Node, days: int, left: int) -> None:
    put(node, rf"{PKI}\kubelet-client-current.pem", certificate(days))
    put(node, rf"{PKI}\kubelet.crt", certificate(300, "kubelet") + certificate(30, "earlier"))
    facts = observed(node)["certificates"]
    assert facts["kubelet_client"]["days_left"] == left
    assert facts["kubelet_client"]["subject"] == "CN=system:node:win2025-0"
    assert facts["kubelet_serving"]["subject"] == "CN=earlier"
    assert facts["kubelet_server"] == {"path": rf"{PKI}\kubelet-server-current.pem", "exists": False}
    assert "PRIVATE" not in json.dumps(facts)


def test_no_secret_is_told(node: Node) -> None:
    put(
        node,
        r"C:\var\lib\kubelet\config.yaml",
        f"kind: KubeletConfiguration\nstaticPodURLHeader: {{a: [{SECRET}]}}\n".encode(),
    )
    line = f'{KUBELET} --manifest-url-header="a:{SECRET}"'
    definition = {"binary_path": line, "environment": [f"HTTPS_PROXY=http://me:{SECRET}@proxy"]}
    former = json.loads((node.engine.folder / "services.json").read_text())["kubelet"]["binary_path"]
    node.session.apply("test", [define_service("kubelet", definition, replaces=former)])
    facts = observed(node)
    assert SECRET not in json.dumps(facts)
    assert facts["services"]["kubelet"]["environment"] == ["HTTPS_PROXY"]
    assert facts["kubelet"]["flags"]["manifest-url-header"]


@pytest.mark.parametrize("wrapper", ["none", "kube-log-runner", "nssm"])
def test_kubelets_own_flags_are_told_whatever_starts_it(node: Node, wrapper: str) -> None:
    line = {"none": KUBELET, "kube-log-runner": LOG_RUNNER + KUBELET, "nssm": r"C:\k\nssm.exe"}[wrapper]
    former = json.loads((node.engine.folder / "services.json").read_text())["kubelet"]["binary_path"]
    key = r"HKLM\SYSTEM\CurrentControlSet\Services\kubelet\Parameters"
    program, _, arguments = KUBELET.partition(" ")
    node.session.apply(
        "test",
        [
            define_service("kubelet", {"binary_path": line}, replaces=former),
            write_registry(key, "Application", "expand_string", program, replaces=None),
            write_registry(key, "AppParameters", "expand_string", arguments, replaces=None),
        ],
    )
    facts = observed(node)["kubelet"]
    assert facts["node_labels"] == {"a": "b"}
    assert facts["flags"]["config"] == r"C:\var\lib\kubelet\config.yaml"


@pytest.mark.parametrize("folder", [r"C:\Program Files\containerd", r"C:\elsewhere"])
def test_containerd_behind_nssm_is_asked_and_not_nssm(node: Node, folder: str) -> None:
    programs = node.file(r"C:\Program Files\containerd")
    for name in ("containerd.exe", "crictl.exe"):
        put(node, rf"{folder}\{name}", (programs / name).read_bytes())
    put(node, r"C:\k\nssm.exe", placeholder("nssm.exe", "2.24"))
    former = json.loads((node.engine.folder / "services.json").read_text())["containerd"]["binary_path"]
    key = r"HKLM\SYSTEM\CurrentControlSet\Services\containerd\Parameters"
    values = {"Application": rf"{folder}\containerd.exe", "AppParameters": ""}
    steps = [write_registry(key, name, "expand_string", value, replaces=None) for name, value in values.items()]
    service = define_service("containerd", {"binary_path": r"C:\k\nssm.exe"}, replaces=former)
    node.session.apply("test", [service, *steps, restart_service("containerd", timeout_seconds=5)])
    facts = observed(node)
    assert facts["versions"]["containerd"] == "2.3.4"
    assert "error" not in facts["containerd"]
    assert sorted(facts["containerd"]["handlers"]) == facts["containerd"]["loaded_handlers"]
    told = node.do("containerd_config_info")
    assert (told["version"], told["warnings"]) == ("2.3.4", [])
    assert sorted(told["effective"]["handlers"]) == told["loaded_handlers"]


def test_a_service_that_is_no_kubelet_is_told_as_such(node: Node) -> None:
    former = json.loads((node.engine.folder / "services.json").read_text())["kubelet"]["binary_path"]
    node.session.apply("test", [define_service("kubelet", {"binary_path": "notepad.exe"}, replaces=former)])
    assert "flags_error" in observed(node)["kubelet"]


@pytest.mark.parametrize("content", [b"version = 3\n[plugins\n", b"version = 99\n", b"\xff\xfe"])
def test_why_containerd_refuses_its_file_is_told(node: Node, content: bytes) -> None:
    put(node, r"C:\Program Files\containerd\config.toml", content)
    facts = observed(node)["containerd"]
    assert facts["error"]
    assert "handlers" not in facts


def test_a_kubelet_configuration_that_is_none_is_told(node: Node) -> None:
    put(node, r"C:\var\lib\kubelet\config.yaml", b"kind: [\n")
    assert observed(node)["kubelet"]["configuration_error"]


def test_what_cannot_be_read_is_named_and_everything_else_told(node: Node) -> None:
    node.engine.faults.add(kind="operation", op="defender.read", code="denied", message="Access is denied.")
    node.engine.faults.add(kind="operation", op="machine.read", code="io", message="The RPC server is unavailable.")
    facts = observed(node)
    assert facts["errors"] == {
        "defender": "Access is denied. [denied]",
        "machine": "The RPC server is unavailable. [io]",
    }
    assert not {"defender", "machine", "restart_pending"} & set(facts)
    assert facts["versions"]["containerd"] == "2.3.4"


def test_a_node_that_does_not_say_which_windows_it_is_is_none(node: Node) -> None:
    node.engine.faults.add(kind="operation", op="system.read", code="io", message="No such key.")
    with pytest.raises(TaskError, match="does not say which Windows it is"):
        observed(node)


def test_an_interrupted_change_is_told(node: Node) -> None:
    journal = node.file(r"C:\ProgramData\lockstep\transactions\containerd.json")
    journal.parent.mkdir(parents=True)
    journal.write_text("{}")
    facts = observed(node)
    assert (facts["containerd"]["interrupted"], facts["kubelet"]["interrupted"]) == (True, False)


def test_features_and_rules_need_not_be_asked(node: Node) -> None:
    facts = observed(node, features=[], firewall_rules=[])
    assert not {"features", "firewall"} & set(facts)


def test_what_is_read_for_others_is_no_fact(node: Node, arguments: Any) -> None:
    given = arguments("lockstep_node_info", {})
    others = [{"op": "file.read", "path": r"C:\other"}]
    result = observe(Session(node._run), {**given, "ahead": others}, check_mode=True)  # noqa: SLF001
    assert "other" not in json.dumps(result)
    assert node.requests == 1


def test_features_and_rules_of_later_tasks_are_told_too_and_asked_once(node: Node, arguments: Any) -> None:
    given = arguments("lockstep_node_info", {"features": ["Containers", "Hyper-V"], "firewall_rules": ["own"]})
    asked: list[dict[str, Any]] = []

    def run(command: str, stdin: bytes) -> Any:
        asked.extend(json.loads(stdin)["request"]["operations"])
        return node._run(command, stdin)  # noqa: SLF001

    ahead = [read_features(["Containers", "Hyper-V-Tools"]), read_firewall(["kubelet"])]
    facts = observe(Session(run), {**given, "ahead": ahead}, check_mode=False)["node"]
    assert set(facts["features"]) == {"Containers", "Hyper-V", "Hyper-V-Tools"}
    assert facts["firewall"] == {"own": None, "kubelet": None}
    names = [operation["names"] for operation in asked if operation["op"] == "feature.read"]
    assert names == [["Hyper-V"], ["Containers", "Hyper-V-Tools"]]


def test_a_service_of_another_name_is_found(node: Node) -> None:
    node.session.apply("test", [write_file(r"C:\other.toml", b"version = 3\n", replaces=None)])
    facts = observed(node, containerd_service="none", containerd_path=r"C:\other.toml")
    assert facts["services"]["containerd"] == {"name": "none", "exists": False}
    assert facts["containerd"]["exists"]
