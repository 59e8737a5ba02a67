"""What else kubelet is given: reserved resources, drop-ins, shutdown, releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.ansible.kubelets import CONFIG, HEALTH, made, memory, run, service
from tests.ansible.nodes import FLEET, Node

from lockstep.ansible.errors import TaskError


def test_a_flag_that_went_with_an_upgrade_is_taken_off_and_told(fresh: Node) -> None:
    run(fresh)
    line = service(fresh).binary_path
    fresh.engine.services.configure("kubelet", f"{line} --pod-infra-container-image=registry.k8s.io/pause:3.10")
    result = run(fresh)
    assert service(fresh).binary_path == line
    assert result["warnings"] == ["--pod-infra-container-image is taken off kubelet's command line: it went with 1.35"]


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
