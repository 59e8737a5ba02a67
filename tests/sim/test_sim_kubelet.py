"""kubelet by version: what it refuses, says and registers. Each case names the source of its rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.node.errors import NodeError
from lockstep.node.operations import (
    configure_service,
    content_of,
    read_file,
    read_service,
    restart_service,
    write_file,
)
from lockstep.sim import EmulatedEngine

Make = Callable[..., EmulatedEngine]
CASES = sorted(Path(__file__).with_name("cases").joinpath("kubelet").glob("*.yaml"))
CONFIG = "C:\\var\\lib\\kubelet\\config.yaml"
GOOD = b"""\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: npipe:////./pipe/containerd-containerd
cgroupsPerQOS: false
enforceNodeAllocatable: [none]
"""


def start(engine: EmulatedEngine, config: bytes, flags: list[str]) -> None:
    """Give kubelet this configuration and these flags more, and start it, as a controller does."""
    session = engine.session()
    file, service = session.read([read_file(CONFIG), read_service("kubelet")])
    line = " ".join([service["binary_path"], *flags])
    session.apply(
        "kubelet",
        [
            write_file(CONFIG, config, replaces=content_of(file)),
            configure_service("kubelet", line, replaces=service["binary_path"]),
            restart_service("kubelet"),
        ],
    )


def node_of(engine: EmulatedEngine, name: str = "node") -> dict[str, Any]:
    node = engine.machine.cluster.get(name)
    assert node is not None
    return node


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path, make: Make) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    expect = case["expect"]
    engine = make(kubernetes=case["kubernetes"], containerd=case.get("containerd", "2.3.4"))
    config, flags = case["config"].encode(), case.get("flags", [])
    for name, text in case.get("files", {}).items():
        place = engine.machine.disk.locate(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    if "registers" not in expect:
        with pytest.raises(NodeError) as caught:
            start(engine, config, flags)
        assert caught.value.code == "service_failed"
        # A kubelet that ends before it spoke to the service manager was never up.
        assert (caught.value.after_seconds is None) == ("fails" in expect)
        assert caught.value.exit_code == (1053 if "fails" in expect else 1067)
        assert expect.get("fails", expect.get("dies")) in (engine.folder / "events.log").read_text(encoding="utf-8")
        assert engine.machine.cluster.list()["items"] == []
        return
    start(engine, config, flags)
    wanted = expect["registers"]
    node = node_of(engine, wanted.get("name", "node"))
    assert wanted.get("labels", {}).items() <= node["metadata"]["labels"].items()
    assert node["spec"].get("taints") == wanted.get("taints")
    assert node["status"]["capacity"]["pods"] == str(wanted.get("max_pods", 110))
    if "handlers" in wanted:
        handlers = node["status"].get("runtimeHandlers")
        assert (None if handlers is None else [handler["name"] for handler in handlers]) == wanted["handlers"]
    memory = engine.machine.memory("kubelet")
    assert memory is not None
    for text in expect.get("warns", []):
        assert any(text in warning for warning in memory["warnings"])
    assert bool(memory["warnings"]) == ("warns" in expect)


def test_the_node_tells_what_runs(make: Make) -> None:
    engine = make(build="10.0.20348.2582", containerd="2.2.9", kubernetes="1.35.2")
    start(engine, GOOD + b"maxPods: 250\n", [])
    status = node_of(engine)["status"]
    assert status["nodeInfo"]["kernelVersion"] == "10.0.20348.2582"
    assert status["nodeInfo"]["osImage"] == "Windows Server 2022 Datacenter"
    assert status["nodeInfo"]["kubeletVersion"] == "v1.35.2"
    assert status["nodeInfo"]["containerRuntimeVersion"] == "containerd://2.2.9"
    assert status["capacity"]["pods"] == "250"
    assert node_of(engine)["metadata"]["labels"]["node.kubernetes.io/windows-build"] == "10.0.20348"


def test_taints_and_labels_are_given_at_registration_only(engine: EmulatedEngine) -> None:
    """Source: kubernetes v1.36.1 pkg/kubelet/kubelet_node_status.go, tryRegisterWithAPIServer, updateDefaultLabels."""
    start(engine, GOOD, ["--node-labels=a=1,topology.kubernetes.io/zone=east"])
    later = GOOD + b"registerWithTaints:\n- {key: os, value: windows, effect: NoSchedule}\n"
    start(engine, later, ["--node-labels=a=2,topology.kubernetes.io/zone=west"])
    node = node_of(engine)
    assert "taints" not in node["spec"]
    assert node["metadata"]["labels"]["a"] == "1"
    assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "west"
    assert engine.machine.cluster.delete("node")
    engine.session().apply("kubelet", [restart_service("kubelet")])
    node = node_of(engine)
    assert node["spec"]["taints"] == [{"key": "os", "value": "windows", "effect": "NoSchedule"}]
    assert node["metadata"]["labels"]["a"] == "2"


def test_kubelet_goes_down_and_up_with_containerd(engine: EmulatedEngine) -> None:
    start(engine, GOOD, [])
    before = engine.services.get("kubelet")
    assert before is not None
    former = before.process_id
    result = engine.session().apply("containerd", [restart_service("containerd")]).results[0]
    assert result["restarted_dependents"] == ["kubelet"]
    after = engine.services.get("kubelet")
    assert after is not None
    assert after.state == "running"
    assert after.process_id != former


def test_handlers_of_the_node_follow_containerd(engine: EmulatedEngine) -> None:
    start(engine, GOOD, [])
    text = b"version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.new]\nruntime_type = 'x'\n"
    write = write_file("C:\\Program Files\\containerd\\config.toml", text, replaces=None)
    engine.session().apply("containerd", [write, restart_service("containerd")])
    names = [handler["name"] for handler in node_of(engine)["status"]["runtimeHandlers"]]
    assert names == ["", "new", "runhcs-wcow-hypervisor", "runhcs-wcow-process"]


def test_a_node_without_network_is_not_ready(engine: EmulatedEngine) -> None:
    engine.machine.disk.locate("C:\\Program Files\\containerd\\cni\\conf\\10-simulated.conf").unlink()
    start(engine, GOOD, [])
    ready = next(entry for entry in node_of(engine)["status"]["conditions"] if entry["type"] == "Ready")
    assert ready["status"] == "False"
    assert "cni plugin not initialized" in ready["message"]


def test_kubelet_without_cri_dies(make: Make) -> None:
    engine = make(containerd="1.7.35", kubernetes="1.33.0")
    text = b'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.other]\nruntime_type = "x"\n'
    write = write_file("C:\\Program Files\\containerd\\config.toml", text, replaces=None)
    engine.session().apply("containerd", [write, restart_service("containerd")])
    with pytest.raises(NodeError, match=r"stopped 0\.2 s after it had started"):
        start(engine, GOOD, [])
    assert "unknown service runtime.v1.RuntimeService" in (engine.folder / "events.log").read_text(encoding="utf-8")
