"""The roles, unchanged, on real PowerShell, real services and real containerd: what ends up on the nodes.

What a node's own programs say is asked here, beside the roles' verify steps. Not shown is a pod: Wine has no HCS, no
Hyper-V, no networking and no Windows images. containerd's CRI plugin starts nevertheless, and lists its handlers to the
real crictl; where that is missing, containerd answers the real ctr.
"""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml
from tests.node.support.standin import Node
from tests.standin import nodes
from tests.standin.scenario import Scenario, flags, image_path

from lockstep.catalog.containerd import layouts
from lockstep.fleet.plan import ContainerdPlan
from lockstep.k8s.taints import Taint

pytestmark = [pytest.mark.windows, pytest.mark.slow]

CRICTL = r"C:\Program Files\containerd\crictl.exe"
CTR = r"C:\Program Files\containerd\ctr.exe"
INFO = ("--runtime-endpoint", "npipe:////./pipe/containerd-containerd", "info")
KUBELET_CONFIG = r"C:\var\lib\kubelet\config.yaml"


def at(data: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        data = data[part]
    return data


def assert_planned(node: Node, plan: ContainerdPlan) -> None:
    """Check what containerd on the node makes of its files, and what the one that runs has loaded."""
    dump = tomllib.loads(nodes.run(node, nodes.CONTAINERD, "config", "dump").decode())
    where = layouts()[dump["version"]]
    assert at(dump, where.pause_image) == plan.pause_image
    assert at(dump, where.default_handler) == plan.default_handler
    handlers = at(dump, where.handlers)
    for handler in plan.handlers:
        table = handlers[handler.name]
        assert table["runtime_type"] == handler.runtime_type
        assert table["pod_annotations"] == list(handler.pod_annotations)
        assert table["container_annotations"] == list(handler.container_annotations)
        assert table["options"] == {**table["options"], **handler.options}
        assert handler.sandboxer is None or table["sandboxer"] == handler.sandboxer
    loaded = json.loads(nodes.run(node, CRICTL, *INFO))["config"]["containerd"]
    assert loaded["defaultRuntimeName"] == plan.default_handler
    for handler in plan.handlers:
        assert loaded["runtimes"][handler.name]["options"] == {
            **loaded["runtimes"][handler.name]["options"],
            **handler.options,
        }


@pytest.mark.parametrize("scenario", ["containerd"], indirect=True)
def test_containerd(scenario: Scenario) -> None:
    before = scenario.process_ids("containerd", scenario.with_services())
    scenario.do("converge")
    after = scenario.process_ids("containerd")
    assert not before.items() & after.items(), "containerd was not restarted"
    for name, node in scenario.nodes.items():
        assert_planned(node, scenario.planned(name).containerd)
    scenario.do("idempotence")
    assert scenario.process_ids("containerd") == after
    scenario.do("verify")
    _without_crictl_somebody_edits(scenario)
    _plug_pulled(scenario)


def _without_crictl_somebody_edits(scenario: Scenario) -> None:
    """What was lost comes back; that containerd is up is then what ctr says."""
    for name, node in scenario.nodes.items():
        crictl, config = node.place(CRICTL), node.place(nodes.CONFIG_TOML)
        crictl.rename(crictl.with_suffix(".kept"))
        text = config.read_text(encoding="utf-8")
        planned = scenario.planned(name).containerd.pause_image
        assert planned in text
        config.write_text(text.replace(planned, "registry.example/pause:1"), encoding="utf-8")
    scenario.do("converge")
    for name, node in scenario.nodes.items():
        crictl = node.place(CRICTL)
        crictl.with_suffix(".kept").rename(crictl)
        assert_planned(node, scenario.planned(name).containerd)


def _plug_pulled(scenario: Scenario) -> None:
    for name, node in scenario.nodes.items():
        node.power("stop")
        node.power("start")
        nodes.until_it_ends_well(node, CRICTL, *INFO)
        assert_planned(node, scenario.planned(name).containerd)


@pytest.mark.parametrize("scenario", ["artifacts"], indirect=True)
def test_artifacts(scenario: Scenario) -> None:
    before = scenario.process_ids("containerd", scenario.with_services())
    scenario.do("converge")
    after = scenario.process_ids("containerd", scenario.with_services())
    assert not before.items() & after.items(), "containerd was not restarted"
    for name, node in scenario.nodes.items():
        plan = scenario.planned(name)
        told = [nodes.run(node, program, "--version").decode() for program in (nodes.CONTAINERD, nodes.KUBELET)]
        assert plan.containerd.version in told[0]
        assert told[1].split() == ["Kubernetes", f"v{plan.kubelet.version}"]
    for name in scenario.with_services():
        server = nodes.until_it_ends_well(scenario.nodes[name], CTR, "version").decode().partition("Server:")[2]
        assert f"v{scenario.planned(name).containerd.version}" in server
    scenario.do("idempotence")
    assert scenario.process_ids("containerd", scenario.with_services()) == after
    scenario.do("verify")


@pytest.mark.parametrize("scenario", ["kubelet"], indirect=True)
def test_kubelet(scenario: Scenario) -> None:
    scenario.do("converge")
    running = scenario.process_ids("kubelet"), scenario.process_ids("containerd")
    for name, node in scenario.nodes.items():
        plan = scenario.planned(name).kubelet
        given = flags(image_path(node, "kubelet"))
        labels = dict(pair.split("=", 1) for pair in given["node-labels"].split(","))
        assert labels == plan.node_labels
        assert given.get("hostname-override", name) == name
        configuration = yaml.safe_load(node.place(KUBELET_CONFIG).read_bytes())
        assert configuration == {**configuration, **plan.configuration}
        assert [Taint(**taint) for taint in configuration["registerWithTaints"]] == list(plan.taints)
    scenario.do("idempotence")
    assert (scenario.process_ids("kubelet"), scenario.process_ids("containerd")) == running
    scenario.do("verify")


@pytest.mark.parametrize("scenario", ["runtime_classes"], indirect=True)
def test_runtime_classes(scenario: Scenario) -> None:
    for step in ("converge", "idempotence", "verify"):
        scenario.do(step)
