"""kubelet_config on simulated nodes: what it does, how often it asks, and that check mode tells it beforehand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import ConnectionBrokeError
from lockstep.sim.engine import PowerLost

if TYPE_CHECKING:
    from tests.ansible.nodes import MakeNode, Node

CONFIG = r"C:\var\lib\kubelet\config.yaml"
OWN = """\
# Joined by hand, ask Kim.
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
maxPods: 60   # the subnet has no more
cgroupsPerQOS: true
clusterDNS: ["10.96.0.10"]
"""
START = ["restart service kubelet", "ask kubelet for its health at http://127.0.0.1:10248/healthz"]
TAINT = {"key": "os", "value": "windows", "effect": "NoSchedule"}
# containerd and Kubernetes that go together, and what enforceNodeAllocatable has to be there.
RELEASES = [("1.7.28", "1.29.4", []), ("1.7.28", "1.32.1", ["none"]), ("2.3.4", "1.36.1", ["none"])]


def run(node: Node, **other: Any) -> dict[str, Any]:
    return node.planned("kubelet_config", **other)


def in_effect(node: Node) -> dict[str, Any]:
    """What the running kubelet has in memory."""
    memory = node.engine.machine.memory("kubelet")
    assert memory is not None, "kubelet does not run"
    return dict(memory["configuration"])


def registered(node: Node) -> dict[str, Any]:
    found = node.engine.machine.cluster.get(node.engine.name)
    assert found is not None, "the node is not registered"
    return found


@pytest.mark.parametrize(("containerd", "kubernetes", "enforced"), RELEASES)
def test_a_run_does_what_check_mode_showed_and_the_next_one_nothing(
    make_node: MakeNode, fleet: dict[str, Any], containerd: str, kubernetes: str, enforced: list[str]
) -> None:
    node = make_node(containerd=containerd, kubernetes=kubernetes)
    node.file(CONFIG).write_text(OWN)
    fleet = fleet | {"containerd": containerd, "kubernetes": kubernetes}

    shown = run(node, fleet=fleet, check_mode=True)
    assert node.file(CONFIG).read_text() == OWN
    done = run(node, fleet=fleet)
    assert done == shown
    file, line = done["diff"]
    assert (file["before"], file["after"].encode()) == (OWN, node.file(CONFIG).read_bytes())
    service = node.engine.services.get("kubelet")
    assert service
    assert f"command line   {service.binary_path}\n" in line["after"]
    assert service.binary_path == done["command_line"]
    assert "# Joined by hand, ask Kim." in file["after"]
    assert "maxPods: 60   # the subnet has no more" in file["after"]
    assert in_effect(node)["enforceNodeAllocatable"] == enforced
    assert in_effect(node)["maxPods"] == 60
    assert registered(node)["metadata"]["labels"]["lockstep.windows/pool"] == "win2025"
    assert registered(node)["spec"]["taints"] == [TAINT]

    again = run(node, fleet=fleet)
    assert (again["changed"], again["steps"], again["diff"], again["warnings"]) == (False, [], [], [])


def test_nothing_to_do_is_one_read_and_a_change_one_apply_more(node: Node) -> None:
    run(node)
    assert node.requests == 2
    run(node)
    assert node.requests == 3
    run(node, check_mode=True)
    assert node.requests == 4


def test_only_what_differs_is_touched(node: Node) -> None:
    run(node)
    changed = run(node, flags={"node-ip": "10.0.0.7"})
    assert changed["steps"] == ["change service kubelet", *START]
    assert changed["command_line"].endswith("--node-ip=10.0.0.7")
    assert run(node, configuration={"maxPods": 70})["steps"] == [f"write {CONFIG}", *START]


def test_absent_takes_away_what_is_named(node: Node) -> None:
    run(node, flags={"windows-priorityclass": "ABOVE_NORMAL_PRIORITY_CLASS"})
    given = {
        "state": "absent",
        "configuration": {"systemReserved": {"memory": "1Gi"}},
        "flags": {"windows-priorityclass": None},
        "node_labels": {},
    }
    shown = run(node, **given, check_mode=True)
    assert run(node, **given) == shown
    assert "systemReserved" not in yaml.safe_load(node.file(CONFIG).read_text())
    assert "priorityclass" not in shown["command_line"]
    assert not run(node, **given)["changed"]


def test_absent_does_not_start_a_service_that_is_stopped(node: Node) -> None:
    result = run(node, state="absent", configuration={"clusterDNS": []}, node_labels={})
    assert result["steps"] == [f"write {CONFIG}"]
    assert (result["restarted"], node.engine.machine.memory("kubelet")) == (False, None)
    assert "clusterDNS" not in yaml.safe_load(node.file(CONFIG).read_text())


def test_absent_that_would_keep_kubelet_from_starting_is_refused_beforehand(node: Node) -> None:
    run(node)
    before = node.file(CONFIG).read_bytes()
    with pytest.raises(TaskError, match="kubelet would not start") as raised:
        run(node, state="absent")
    assert "containerRuntimeEndpoint" in str(raised.value)
    assert node.file(CONFIG).read_bytes() == before
    assert in_effect(node)["cgroupsPerQOS"] is False


def test_labels_and_taints_that_come_too_late_are_told_with_their_commands(node: Node) -> None:
    run(node)
    other: dict[str, Any] = {"node_labels": {"disk": "fast"}, "prune_node_labels": True}
    result = run(node, **other, configuration={"registerWithTaints": []})
    [warning] = result["warnings"]
    assert "kubectl label node win2025-0 --overwrite disk=fast lockstep.windows/pool-" in warning
    assert "kubectl taint nodes win2025-0 --overwrite os=windows:NoSchedule-" in warning
    assert registered(node)["metadata"]["labels"]["lockstep.windows/pool"] == "win2025"


def labels(node: Node) -> dict[str, str]:
    found: dict[str, str] = node.do("kubelet_config_info")["node_labels"]
    return found


def test_a_task_owns_the_labels_that_it_is_given_and_those_of_lockstep_only_when_told(node: Node) -> None:
    run(node)
    planned = {"lockstep.windows/pool": "win2025"}
    mine: dict[str, Any] = {"version": "1.36.1", "node_labels": {"example.com/rack": "7"}}
    node.do("kubelet_config", **mine)
    assert labels(node) == planned | {"example.com/rack": "7"}
    assert not run(node, prune_node_labels=True)["changed"]
    node.do("kubelet_config", **mine, state="absent")
    assert labels(node) == planned
    node.do("kubelet_config", **mine, prune_node_labels=True)
    assert labels(node) == {"example.com/rack": "7"}


def test_lockstep_labels_go_with_none_planned(node: Node) -> None:
    run(node)
    node.do("kubelet_config", version="1.36.1", prune_node_labels=True)
    assert labels(node) == {}
    assert "node-labels" not in node.do("kubelet_config_info")["flags"]


def test_a_flag_with_a_field_may_be_taken_away(node: Node) -> None:
    run(node)
    service = node.engine.services.get("kubelet")
    assert service
    node.engine.services.configure("kubelet", f"{service.binary_path} --max-pods=3")
    assert "max-pods" not in run(node, flags={"max-pods": None})["command_line"]


def test_backup_keeps_the_former_file(node: Node) -> None:
    node.file(CONFIG).write_text(OWN)
    [backup] = run(node, backup=True)["backups"]
    assert node.file(backup).read_text() == OWN


def test_secrets_are_masked_in_the_diff_and_stay_in_the_file(node: Node) -> None:
    secret = "staticPodURLHeader:\n  Authorization:\n  - Bearer hunter2\n"  # noqa: S105 - of a simulated node
    node.file(CONFIG).write_text(OWN + secret + "maxOpenFiles: 5\n")
    result = run(node)
    assert "hunter2" not in json.dumps(result)
    assert 'staticPodURLHeader: "********"\nmaxOpenFiles: 5\n' in result["diff"][0]["before"]
    assert secret in node.file(CONFIG).read_text()
    assert "hunter2" not in json.dumps(node.do("kubelet_config_info"))


def test_a_header_on_the_command_line_is_masked_wherever_it_is_told(node: Node) -> None:
    run(node)
    for flag in ("--manifest-url-header=Authorization:hunter2", '--manifest_url_header "Authorization:Bearer hunter2"'):
        service = node.engine.services.get("kubelet")
        assert service
        line = service.binary_path.partition(" --manifest")[0]
        node.engine.services.configure("kubelet", f"{line} {flag} --v=2")
        result = run(node, flags={"node-ip": "10.0.0.7"}, check_mode=True)
        assert "hunter2" not in json.dumps(result)
        assert "header" in result["diff"][1]["before"]
        told = node.do("kubelet_config_info")
        assert "hunter2" not in json.dumps(told)
        assert told["flags"]["manifest-url-header"] == "********"
        assert told["flags"]["v"] == "2"


@pytest.mark.parametrize("taints", ["abc", "[abc]", "{a: b}", "[{effect: NoSchedule}]", "[{key: a}]"])
def test_what_is_no_taint_in_the_file_is_replaced(node: Node, taints: str) -> None:
    run(node)
    right = node.file(CONFIG).read_text()
    data = {**yaml.safe_load(right), "registerWithTaints": yaml.safe_load(taints)}
    node.file(CONFIG).write_text(yaml.safe_dump(data))
    [warning] = run(node)["warnings"]
    assert warning.endswith("kubectl taint nodes win2025-0 --overwrite os=windows:NoSchedule")
    assert yaml.safe_load(node.file(CONFIG).read_text())["registerWithTaints"] == [TAINT]


def test_info_tells_file_flags_and_service(node: Node) -> None:
    fresh = node.do("kubelet_config_info", check_mode=True)
    assert (fresh["exists"], fresh["version"], fresh["registered"]) == (True, "1.36.1", False)
    run(node)
    told = node.do("kubelet_config_info")
    assert told["configuration"]["registerWithTaints"] == [TAINT]
    assert told["node_labels"] == {"lockstep.windows/pool": "win2025"}
    assert told["flags"]["hostname-override"] == "win2025-0"
    assert (told["registered"], told["service"]["state"], told["changed"]) == (True, "running", False)


def test_power_lost_between_any_two_steps_is_made_good_by_the_next_run(make_node: MakeNode) -> None:
    whole = make_node("whole")
    whole.file(CONFIG).write_text(OWN)
    right = run(whole)["command_line"]
    content = whole.file(CONFIG).read_bytes()
    steps = len(whole.engine.steps.labels)
    assert steps > 10
    for step in range(1, steps + 1):
        node = make_node(f"cut-{step}")
        node.file(CONFIG).write_text(OWN)
        node.engine.faults.add(kind="power", step=step)
        with pytest.raises(PowerLost):
            run(node)
        node.engine.power_on()
        result = run(node)
        assert result["command_line"] == right.replace("=whole ", f"=cut-{step} "), step
        assert node.file(CONFIG).read_bytes() == content, step
        assert in_effect(node)["maxPods"] == 60, step
        assert not node.leftovers, step
        assert not run(node)["changed"], step
        # Power came back in the middle, so kubelet may have registered without the rest: then the task says what to do.
        labels, taints = registered(node)["metadata"]["labels"], registered(node)["spec"].get("taints")
        told = " ".join(result["warnings"])
        assert labels.get("lockstep.windows/pool") == "win2025" or "lockstep.windows/pool=win2025" in told, step
        assert taints == [TAINT] or "os=windows:NoSchedule" in told, step


@pytest.mark.parametrize(
    ("request_number", "says"),
    [
        (1, "the connection broke while the node was read, so nothing was done"),
        (2, "the connection broke while the change was being made"),
    ],
)
def test_a_broken_connection_is_told_with_its_cause_and_what_to_do(node: Node, request_number: int, says: str) -> None:
    def cut(number: int) -> None:
        if number == request_number:
            raise ConnectionBrokeError("Remote end closed connection without response")

    node.before_request = cut
    with pytest.raises(TaskError, match=says) as raised:
        run(node)
    assert "it said   Remote end closed connection" in str(raised.value)
    assert ("an interrupted run is completed" in str(raised.value)) is (request_number == 2)
    assert "do        run again" in str(raised.value)


def test_somebody_elses_change_while_the_task_runs_is_left_alone_and_merged_by_the_next_run(node: Node) -> None:
    def edit(request: int) -> None:
        if request == 2:
            node.file(CONFIG).write_text(OWN + "# theirs\n")

    node.before_request = edit
    with pytest.raises(TaskError, match="somebody else changed") as raised:
        run(node)
    assert raised.value.result == {"rolled_back": True}
    assert node.file(CONFIG).read_text() == OWN + "# theirs\n"
    run(node)
    assert "# theirs" in node.file(CONFIG).read_text()
    assert in_effect(node)["maxPods"] == 60
