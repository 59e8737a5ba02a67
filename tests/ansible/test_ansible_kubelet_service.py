"""kubelet's service on simulated nodes, from nothing: made, adopted, behind each wrapper, standalone and joined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.ansible.conftest import FLEET, Node, validated

from lockstep.ansible.errors import TaskError
from lockstep.ansible.kubelet.node import read_operations
from lockstep.sim import NodeSpec
from lockstep.sim.engine import PowerLost
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


@pytest.fixture
def fresh(tmp_path: Path) -> Node:
    return made(tmp_path)


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


def test_check_mode_tells_everything_of_a_bare_windows(tmp_path: Path) -> None:
    node = Node(tmp_path, NodeSpec("win2025-0", "ltsc2025", prepared="nothing"))
    before = files(node)
    result = run(node, check_mode=True, reserved="auto", **JOINING)
    assert result["steps"] == [
        r"make folder C:\var\log\kubelet",
        r"make folder C:\etc\kubernetes",
        f"write {CONFIG}",
        f"write {CA_FILE}",
        f"write {BOOTSTRAP}",
        "register service kubelet",
        "start service kubelet",
        HEALTH,
    ]
    assert result["warnings"] == [
        r"not on the node yet: C:\k\kubelet.exe, C:\k\kube-log-runner.exe, service containerd"
    ]
    headers = [entry["after_header"] for entry in result["diff"]]
    assert headers == [CONFIG, CA_FILE, BOOTSTRAP, "service kubelet"]
    assert "https://api.example:6443" in result["diff"][2]["after"]
    assert TOKEN not in json.dumps(result)
    assert files(node) == before
    assert node.requests == 1


def test_what_check_mode_told_is_what_a_run_does_and_the_next_one_does_nothing(fresh: Node) -> None:
    shown = run(fresh, check_mode=True, reserved="auto")
    assert run(fresh, reserved="auto") == shown
    assert fresh.requests == 3
    now = service(fresh)
    assert now.binary_path.startswith(
        rf"C:\k\kube-log-runner.exe --log-file={LOG} --log-file-size=100Mi --log-file-age=168h "
        rf"C:\k\kubelet.exe --windows-service --config={CONFIG} "
    )
    assert (now.start_type, now.depends_on, now.state) == ("automatic", ["containerd"], "running")
    assert now.recovery is not None
    assert {each["action"] for each in now.recovery["actions"]} == {"restart"}
    assert "Running command" in fresh.file(LOG).read_text()
    again = run(fresh, reserved="auto")
    assert (again["changed"], again["steps"], again["diff"], again["warnings"]) == (False, [], [], [])


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


@pytest.mark.parametrize("first", ["kube-log-runner", "none", "nssm"])
@pytest.mark.parametrize("second", ["kube-log-runner", "none", "nssm"])
def test_one_wrapper_takes_the_place_of_another_and_back(fresh: Node, first: str, second: str) -> None:
    before = run(fresh, wrapper=first)
    flags = memory(fresh)["flags"]
    line = service(fresh).binary_path
    assert parameters(fresh).get("Application") == (r"C:\k\kubelet.exe" if first == "nssm" else None)
    changed = run(fresh, wrapper=second)
    assert changed["changed"] is (first != second)
    assert changed["wrapper"] == second
    assert ("windows-service" in memory(fresh)["flags"]) is (second != "nssm")
    assert {**memory(fresh)["flags"], "windows-service": "true"} == {**flags, "windows-service": "true"}
    assert not run(fresh)["changed"], "auto is what is there"
    back = run(fresh, wrapper=first)
    assert sorted(back["command_line"].split()) == sorted(before["command_line"].split())
    assert sorted(service(fresh).binary_path.split()) == sorted(line.split())
    assert parameters(fresh).get("Application") == (r"C:\k\kubelet.exe" if first == "nssm" else None)
    assert not run(fresh, wrapper=first)["changed"]


def test_nssm_has_log_and_rotation_and_keeps_what_somebody_else_set(fresh: Node) -> None:
    run(fresh, wrapper="nssm", log_max_size="20Mi")
    assert service(fresh).binary_path == r"C:\k\nssm.exe"
    found = parameters(fresh)
    assert found["AppDirectory"] == r"C:\k"
    assert (found["AppStdout"], found["AppStderr"], found["AppRotateBytes"]) == (LOG, LOG, 20 * 1024**2)
    assert found["AppParameters"].startswith(f"--config={CONFIG}")
    registry = fresh.engine.folder / "registry.json"
    document = json.loads(registry.read_text())
    key = r"SYSTEM\CurrentControlSet\Services\kubelet\Parameters"
    document[key]["AppPriority"] = {"kind": "dword", "value": 128}
    document[key]["AppStdout"]["value"] = r"D:\kubelet.log"
    registry.write_text(json.dumps(document))
    result = run(fresh, node_ip="10.0.0.7")
    assert result["steps"] == ["set nssm's AppParameters", "restart service kubelet", HEALTH]
    assert parameters(fresh)["AppParameters"].endswith("--node-ip=10.0.0.7")
    assert (parameters(fresh)["AppPriority"], parameters(fresh)["AppStdout"]) == (128, r"D:\kubelet.log")


def test_a_service_that_is_there_is_adopted(fresh: Node) -> None:
    fresh.file(r"D:\log").mkdir(parents=True)
    own = (
        r"C:\k\kube-log-runner.exe -log-file D:\log\kubelet.log C:\k\kubelet.exe --hostname-override=mine "
        rf"--windows-service --v=3 --cert-dir D:\pki --config {CONFIG}"
    )
    recovery = {
        "reset_seconds": 0,
        "actions": [{"action": "reboot", "delay_milliseconds": 60000}],
        "on_non_crash": False,
    }
    theirs = Service("kubelet", "Their kubelet", own, "delayed", ["other"], description="theirs", recovery=recovery)
    fresh.engine.services.add(theirs, Service("other", "Other", r"C:\Windows\System32\svchost.exe"))
    result = run(fresh, start_type="auto")
    assert "change service kubelet" in result["steps"]
    now = service(fresh)
    assert now.binary_path == f"{own} --node-labels=lockstep.windows/pool=win2025"
    assert (now.display_name, now.description, now.start_type) == ("Their kubelet", "theirs", "delayed")
    assert (now.depends_on, now.recovery) == (["other", "containerd"], recovery)
    moved = run(fresh, start_type="automatic", log_file=r"D:\other\kubelet.log")
    assert moved["steps"] == [r"make folder D:\other", "change service kubelet", "restart service kubelet", HEALTH]
    assert service(fresh).start_type == "automatic"
    assert r"--log-file=D:\other\kubelet.log C:\k\kubelet.exe --hostname-override=mine" in service(fresh).binary_path


@pytest.mark.parametrize("wrapper", ["", r"C:\k\kube-log-runner.exe "])
def test_the_release_is_that_of_the_kubelet_that_the_service_runs(fresh: Node, wrapper: str) -> None:
    other = fresh.file(r"D:\bin\kubelet.exe")
    other.parent.mkdir(parents=True)
    other.write_bytes(placeholder("kubelet.exe", "1.36.0"))
    line = rf"{wrapper}D:\bin\kubelet.exe --windows-service --config={CONFIG}"
    fresh.engine.services.add(Service("kubelet", "kubelet", line))
    if wrapper:
        with pytest.raises(TaskError, match="which is not there, or does not tell") as raised:
            run(fresh)
        assert r"set program (in the role, kubelet_program) to D:\bin\kubelet.exe" in " ".join(
            str(raised.value).split()
        )
    with pytest.raises(TaskError, match=r"this node has kubelet 1\.36\.0"):
        run(fresh, program=r"D:\bin\kubelet.exe")
    other.write_bytes(placeholder("kubelet.exe", "1.36.1"))
    assert run(fresh, program=r"D:\bin\kubelet.exe")["changed"]


def test_check_mode_before_an_upgrade_tells_what_is_to_be_done_after_it(fresh: Node) -> None:
    run(fresh)
    fleet = FLEET | {"kubernetes": "1.37.2"}
    result = run(fresh, fleet=fleet, check_mode=True, node_ip="10.0.0.7")
    assert result["steps"] == ["change service kubelet", "restart service kubelet", HEALTH]
    [warning] = result["warnings"]
    assert warning.startswith("this node has kubelet 1.36.1, but Kubernetes 1.37.2 is described: ")
    assert warning.endswith("once the role artifacts has brought it")
    with pytest.raises(TaskError, match="upgrade the node"):
        run(fresh, fleet=fleet)


def test_absent_leaves_nssm_s_service(fresh: Node) -> None:
    run(fresh, wrapper="nssm", flags={"cert-dir": r"D:\pki"})
    given: dict[str, Any] = {"state": "absent", "configuration": {"clusterDNS": []}, "flags": {"cert-dir": None}}
    result = run(fresh, **given, node_labels={}, prune_node_labels=False)
    assert result["steps"] == ["set nssm's AppParameters", "restart service kubelet"]
    assert "cert-dir" not in parameters(fresh)["AppParameters"]
    assert memory(fresh)["configuration"]["systemReserved"] == {"memory": "2Gi"}


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


def test_a_flag_that_went_with_an_upgrade_is_taken_off_and_told(fresh: Node) -> None:
    run(fresh)
    line = service(fresh).binary_path
    fresh.engine.services.configure("kubelet", f"{line} --pod-infra-container-image=registry.k8s.io/pause:3.10")
    result = run(fresh)
    assert service(fresh).binary_path == line
    assert result["warnings"] == ["--pod-infra-container-image is taken off kubelet's command line: it went with 1.35"]


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


def test_reserved_resources_follow_the_machine(tmp_path: Path) -> None:
    node = made(tmp_path, machine={"processors": 8, "memory": "32Gi"})
    run(node, reserved="auto")
    fields = yaml.safe_load(node.file(CONFIG).read_text())
    assert fields["kubeReserved"] == {"cpu": "180m", "memory": "3645Mi"}
    assert fields["systemReserved"] == {"memory": "2Gi"}
    assert not run(node, reserved="none")["changed"], "none leaves it alone"
    run(node, reserved={"memory": "1Gi"})
    assert yaml.safe_load(node.file(CONFIG).read_text())["kubeReserved"] == {"cpu": "180m", "memory": "1Gi"}
    run(node, reserved="auto", configuration={**planned(), "kubeReserved": {"cpu": "1"}})
    assert yaml.safe_load(node.file(CONFIG).read_text())["kubeReserved"] == {"cpu": "1", "memory": "1Gi"}


def test_a_machine_that_has_less_than_would_be_reserved_is_refused(tmp_path: Path) -> None:
    node = made(tmp_path, machine={"memory": "2Gi"})
    with pytest.raises(TaskError, match="left alone") as raised:
        run(node, reserved="auto")
    assert "of 2048Mi of memory 2Gi and 512Mi would be reserved" in str(raised.value)


def test_drop_ins_are_merged_files_of_a_folder_that_is_made(fresh: Node) -> None:
    shown = run(fresh, drop_ins={"20-logs.conf": {"containerLogMaxSize": "50Mi"}}, check_mode=True)
    assert run(fresh, drop_ins={"20-logs.conf": {"containerLogMaxSize": "50Mi"}}) == shown
    assert r"make folder C:\var\lib\kubelet\config.d" in shown["steps"]
    assert memory(fresh)["configuration"]["containerLogMaxSize"] == "50Mi"
    assert memory(fresh)["flags"]["config-dir"] == r"C:\var\lib\kubelet\config.d"
    assert not run(fresh, drop_ins={"20-logs.conf": {"containerLogMaxSize": "50Mi"}})["changed"]
    assert not run(fresh)["changed"], "what is not named stays"
    assert "config-dir" not in run(fresh, flags={"config-dir": None})["command_line"]
    assert not run(fresh, flags={"config-dir": None})["changed"]
    run(fresh, config_dir=r"C:\var\lib\kubelet\config.d")
    changed = run(fresh, drop_ins={"20-logs.conf": {"containerLogMaxFiles": 3}})
    assert changed["steps"] == [r"write C:\var\lib\kubelet\config.d\20-logs.conf", "restart service kubelet", HEALTH]
    assert memory(fresh)["configuration"]["containerLogMaxSize"] == "50Mi"


def test_graceful_shutdown_is_told_not_to_work_in_a_service_of_another_name(fresh: Node) -> None:
    result = run(fresh, service="agent", configuration={**planned(), "shutdownGracePeriod": "30s"})
    assert result["warnings"] == [
        "shutdownGracePeriod does nothing in a service called agent: call it kubelet, or leave it out"
    ]


def planned() -> dict[str, Any]:
    return {
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": ["none"],
        "resolvConf": "",
        "containerRuntimeEndpoint": "npipe:////./pipe/containerd-containerd",
        "systemReserved": {"memory": "2Gi"},
    }


def test_a_shutdown_that_somebody_wrote_keeps_nssm_out(fresh: Node) -> None:
    run(fresh, configuration={**planned(), "shutdownGracePeriod": "30s"})
    with pytest.raises(TaskError, match="would not start") as raised:
        run(fresh, wrapper="nssm")
    assert "does nothing under nssm" in str(raised.value)
    assert service(fresh).binary_path.startswith(r"C:\k\kube-log-runner.exe")


@pytest.mark.parametrize(
    ("containerd", "kubernetes"), [("1.7.28", "1.26.9"), ("1.7.28", "1.29.4"), ("2.3.4", "1.37.2")]
)
def test_other_minors(tmp_path: Path, containerd: str, kubernetes: str) -> None:
    node = made(tmp_path, containerd=containerd, kubernetes=kubernetes)
    fleet = FLEET | {"containerd": containerd, "kubernetes": kubernetes}
    run(node, fleet=fleet, reserved="auto")
    assert ("--log-file-size" in service(node).binary_path) is (kubernetes == "1.37.2")
    assert ("container-runtime-endpoint" in memory(node)["flags"]) is (kubernetes == "1.26.9")
    assert not run(node, fleet=fleet, reserved="auto")["changed"]


def test_a_kubelet_that_refuses_a_flag_leaves_nothing_behind(fresh: Node) -> None:
    before = files(fresh)
    fresh.engine.faults.add(kind="service", name="kubelet", does="exits")
    with pytest.raises(TaskError, match="kubelet did not come up") as raised:
        run(fresh, **JOINING)
    assert raised.value.result == {"rolled_back": True}
    assert fresh.engine.services.get("kubelet") is None
    assert {path for path in files(fresh) if not path.endswith((".rejected", "kubelet.log"))} == set(before)
    assert run(fresh, **JOINING)["joined"]


@pytest.mark.parametrize("wrapper", ["kube-log-runner", "nssm"])
def test_power_lost_between_any_two_steps_of_the_first_run_is_made_good(tmp_path: Path, wrapper: str) -> None:
    whole = made(tmp_path, "whole")
    given: dict[str, Any] = {"wrapper": wrapper, **JOINING}
    first = len(whole.engine.steps.labels)
    right = run(whole, **given)
    steps = len(whole.engine.steps.labels) - first
    assert steps > 10
    for step in range(1, steps + 1):
        node = made(tmp_path, f"cut-{step}")
        node.engine.faults.add(kind="power", step=step)
        with pytest.raises(PowerLost):
            run(node, **given)
        node.engine.power_on()
        result = run(node, **given)
        assert result["command_line"] == right["command_line"], step
        assert node.file(CONFIG).read_bytes() == whole.file(CONFIG).read_bytes(), step
        assert parameters(node) == parameters(whole), step
        assert memory(node)["configuration"]["authentication"]["x509"], step
        assert not node.leftovers, step
        assert not run(node, **given)["changed"], step


@pytest.mark.parametrize(("first", "second"), [("none", "nssm"), ("nssm", "kube-log-runner")])
def test_power_lost_while_the_wrapper_changes_loses_no_flag(tmp_path: Path, first: str, second: str) -> None:
    def begun(name: str) -> Node:
        node = made(tmp_path, name)
        run(node, wrapper=first, flags={"cert-dir": r"D:\pki"})
        return node

    whole = begun("whole")
    before = len(whole.engine.steps.labels)
    run(whole, wrapper=second)
    for step in range(1, len(whole.engine.steps.labels) - before + 1):
        node = begun(f"cut-{step}")
        node.engine.faults.add(kind="power", step=step)
        with pytest.raises(PowerLost):
            run(node, wrapper=second)
        node.engine.power_on()
        run(node, wrapper=second)
        assert memory(node)["flags"]["cert-dir"] == r"D:\pki", step
        assert parameters(node) == parameters(whole), step
        assert not node.leftovers, step
        assert not run(node, wrapper=second)["changed"], step


def test_secrets_lie_where_administrators_alone_may_read_them(fresh: Node, tmp_path: Path) -> None:
    assert run(fresh, **JOINING)["warnings"] == []
    access = json.loads((fresh.engine.folder / "access.json").read_text())
    assert access[r"c:\etc\kubernetes"] == access[r"c:\var\log\kubelet"] == "D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
    other = made(tmp_path, "other")
    other.file(BOOTSTRAP).parent.mkdir(parents=True)
    [warning] = run(other, **JOINING)["warnings"]
    assert r"others than administrators may use C:\etc\kubernetes" in warning
    assert run(other, **JOINING)["warnings"] == []


def test_what_is_asked_is_the_same_for_the_same_arguments() -> None:
    given = validated("kubelet_config", {"version": "1.36.1", "reserved": "auto", "drop_ins": {"a.conf": {}}})
    assert read_operations(given) == read_operations(given)
    ops = [operation["op"] for operation in read_operations(given)]
    assert ops.count("machine.read") == 1
    assert not [op for op in ops if op in {"file.write", "service.define", "folder.ensure"}]


def test_a_kubelet_whose_containerd_does_not_come_up_says_so(fresh: Node) -> None:
    fresh.engine.services.stop("containerd")
    fresh.engine.faults.add(kind="service", name="containerd", does="exits", times=5)
    with pytest.raises(TaskError, match="kubelet did not start, because it depends on a service that") as raised:
        run(fresh, **JOINING)
    told = raised.value.facts
    assert "it depends on containerd, which is stopped, exit code 1053" in told["it said"]
    assert "find out why service containerd does not run" in told["do"]
    assert not {"log", "file"} & told.keys(), "its own files are not to blame"


def test_what_was_not_there_before_is_not_told_as_put_back(fresh: Node) -> None:
    fresh.engine.faults.add(kind="service", name="kubelet", does="exits")
    with pytest.raises(TaskError, match=r"new configuration, so everything is as it was\sbefore") as raised:
        run(fresh)
    assert raised.value.facts["file"] == f"{CONFIG}.rejected (what was written; there was no such file before)"


def test_a_kubelet_that_does_not_stop_is_told_as_one(fresh: Node) -> None:
    fresh.engine.faults.add(kind="service", name="kubelet", does="deaf")
    run(fresh)
    with pytest.raises(TaskError, match="did not stop in time for kubelet to be configured") as raised:
        run(fresh, node_ip="10.0.0.7")
    told = raised.value.facts
    assert told["step"].endswith("restart service kubelet: did not stop in time")
    assert told["log"] == LOG
    assert f"look into {LOG}" in told["do"]
    assert "timeout (in the role, kubelet_timeout)" in told["do"]
    assert f"{CONFIG} (as it was" not in told.get("file", "")
