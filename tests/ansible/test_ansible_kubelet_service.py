"""kubelet's service on simulated nodes, from nothing: made, adopted, behind each wrapper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.ansible.kubelets import (
    BOOTSTRAP,
    CA_FILE,
    CONFIG,
    HEALTH,
    JOINING,
    LOG,
    TOKEN,
    files,
    memory,
    parameters,
    run,
    service,
)
from tests.ansible.nodes import FLEET, Node, validated

from lockstep.ansible.errors import TaskError
from lockstep.ansible.kubelet.node import read_operations
from lockstep.sim import NodeSpec
from lockstep.sim.programs import placeholder
from lockstep.sim.services import Service


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


def test_what_is_asked_is_the_same_for_the_same_arguments() -> None:
    given = validated("kubelet_config", {"version": "1.36.1", "reserved": "auto", "drop_ins": {"a.conf": {}}})
    assert read_operations(given) == read_operations(given)
    ops = [operation["op"] for operation in read_operations(given)]
    assert ops.count("machine.read") == 1
    assert not [op for op in ops if op in {"file.write", "service.define", "folder.ensure"}]
