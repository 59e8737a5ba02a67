"""The proof finds every way in which description, nodes and manifests can disagree."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lockstep.catalog.builds import resolve
from lockstep.fleet.derivation.derive import derive
from lockstep.fleet.model import Fleet, Pool, RuntimeClass
from lockstep.fleet.plan import Plan
from lockstep.k8s.taints import Taint
from lockstep.report.proof import proof
from lockstep.verify.agreement import Agreement, Effective, prove
from lockstep.verify.observed import Manifest, Node, ObservationError, read_nodes

TAINT = Taint("os", "windows", "NoSchedule")
POOL_OF = {"win2022-0": "win2022", "win2025-0": "win2025"}


def pool(name: str, host: str) -> Pool:
    return Pool(name, name, resolve(host), None, "1.36.1", "2.3.4", TAINT, None, {}, {})


def runtime_class(name: str, guest: str, isolation: Any = "process") -> RuntimeClass:
    return RuntimeClass(name, isolation, resolve(guest), None, None, None, {}, None, (), {}, {})


@pytest.fixture(scope="module")
def plan() -> Plan:
    fleet = Fleet(
        pools={"win2022": pool("win2022", "ltsc2022"), "win2025": pool("win2025", "ltsc2025")},
        runtime_classes={
            "windows-2022": runtime_class("windows-2022", "ltsc2022"),
            "windows-2025-hyperv": runtime_class("windows-2025-hyperv", "ltsc2025", "hyperv"),
        },
    )
    derived = derive(fleet)
    assert derived.plan is not None, derived.findings
    return derived.plan


class World:
    """What is observed where everything is as planned; a test breaks one thing."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.manifests = [
            Manifest(item.name, item.handler, dict(item.node_selector), item.tolerations)
            for item in plan.classes.values()
        ]
        self.nodes = []
        self.effective: dict[str, dict[str, dict[str, Any]]] = {}
        self.pause_images: dict[str, str | None] = {}
        for node, pool_name in POOL_OF.items():
            planned = plan.pools[pool_name]
            labels = {
                "kubernetes.io/os": "windows",
                "kubernetes.io/arch": "amd64",
                "node.kubernetes.io/windows-build": planned.host,
                **planned.kubelet.node_labels,
            }
            self.pause_images[node] = planned.containerd.pause_image
            handlers = planned.containerd.handlers
            self.nodes.append(Node(node, labels, (TAINT,), frozenset(handler.name for handler in handlers)))
            self.effective[node] = {
                handler.name: {"runtime_type": handler.runtime_type, "options": dict(handler.options)}
                for handler in handlers
            }

    def prove(self) -> Agreement:
        effective: dict[str, Effective] = {**self.effective}
        return prove(self.plan, POOL_OF, self.manifests, self.nodes, effective, pause_images=self.pause_images)


def everything(agreement: Agreement) -> str:
    return "\n".join([*agreement.problems, *(text for row in agreement.rows for text in row.problems)])


def test_all_agree(plan: Plan) -> None:
    agreement = World(plan).prove()
    assert agreement.agrees, everything(agreement)
    assert [(row.class_name, row.node, row.selected) for row in agreement.rows] == [
        ("windows-2022", "win2022-0", True),
        ("windows-2022", "win2025-0", False),
        ("windows-2025-hyperv", "win2022-0", False),
        ("windows-2025-hyperv", "win2025-0", True),
    ]
    text = proof(agreement, 80)
    assert "2 classes, 2 nodes: description, nodes and manifests agree." in text
    assert max(map(len, text.splitlines())) <= 80


def no_handler(world: World) -> None:
    del world.effective["win2025-0"]["runhcs-wcow-hypervisor"]


def not_listed_by_the_node(world: World) -> None:
    world.nodes[1] = replace(world.nodes[1], handlers=frozenset({"runhcs-wcow-process"}))


def boolean_option(world: World) -> None:
    world.effective["win2025-0"]["runhcs-wcow-hypervisor"]["options"]["SandboxIsolation"] = True


def missing_option(world: World) -> None:
    del world.effective["win2022-0"]["runhcs-wcow-process"]["options"]["SandboxPlatform"]


def other_runtime_type(world: World) -> None:
    world.effective["win2022-0"]["runhcs-wcow-process"]["runtime_type"] = "io.containerd.runc.v2"


def other_taint(world: World) -> None:
    world.nodes[0] = replace(world.nodes[0], taints=(Taint("os", "Windows", "NoSchedule"),))


def label_missing(world: World) -> None:
    world.nodes[0] = replace(world.nodes[0], labels={"kubernetes.io/os": "windows", "kubernetes.io/arch": "amd64"})


def selector_too_wide(world: World) -> None:
    world.manifests[0] = replace(world.manifests[0], node_selector={"kubernetes.io/os": "windows"})


def other_handler(world: World) -> None:
    world.manifests[0] = replace(world.manifests[0], handler="runhcs-wcow-procces")


def no_manifest(world: World) -> None:
    del world.manifests[0]


def foreign_manifest(world: World) -> None:
    world.manifests.append(replace(world.manifests[0], name="windows-old"))


def node_gone(world: World) -> None:
    del world.nodes[1]


def not_observed(world: World) -> None:
    del world.effective["win2022-0"]


def other_pause_image(world: World) -> None:
    world.pause_images["win2025-0"] = "registry.k8s.io/pause:3.10"


def other_windows(world: World) -> None:
    labels = {**world.nodes[1].labels, "node.kubernetes.io/windows-build": "10.0.20348"}
    world.nodes[1] = replace(world.nodes[1], labels=labels)
    selector = {**world.manifests[1].node_selector, "node.kubernetes.io/windows-build": "10.0.20348"}
    world.manifests[1] = replace(world.manifests[1], node_selector=selector)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (no_handler, 'no runtime for "runhcs-wcow-hypervisor" is configured'),
        (not_listed_by_the_node, 'no runtime for "runhcs-wcow-hypervisor" is configured'),
        (boolean_option, "option SandboxIsolation is True instead of 1"),
        (missing_option, "option SandboxPlatform is 'missing' instead of 'windows/amd64'"),
        (other_runtime_type, "runtime_type is not io.containerd.runhcs.v1"),
        (other_taint, "taint os=Windows:NoSchedule is not tolerated"),
        (label_missing, "is in pool win2022, but the nodeSelector passes it by"),
        (selector_too_wide, "is selected, but belongs to pool win2025"),
        (other_handler, 'no runtime for "runhcs-wcow-procces" is configured'),
        (no_manifest, "class windows-2022 is described but has no manifest"),
        (foreign_manifest, "class windows-old has a manifest but is not described"),
        (node_gone, "node win2025-0 of pool win2025 is not registered"),
        (not_observed, "its effective containerd configuration was not read"),
        (other_pause_image, "node win2025-0 of pool win2025 has pause image registry.k8s.io/pause:3.10 instead of "),
        (other_windows, "is selected, but belongs to pool win2022"),
    ],
)
def test_each_disagreement_is_named(plan: Plan, fault: Callable[[World], None], said: str) -> None:
    world = World(plan)
    fault(world)
    agreement = world.prove()
    assert not agreement.agrees
    assert said in everything(agreement)
    assert "disagreement" in proof(agreement, 80).splitlines()[-1]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "NodeList"}', '{"kind": "NodeList", "items": [1]}'])
def test_what_is_no_node_list_is_refused(text: str) -> None:
    with pytest.raises(ObservationError, match="kubectl get nodes -o json"):
        read_nodes(text)


def test_what_a_node_list_lacks_is_named() -> None:
    with pytest.raises(ObservationError, match="it has no 'kind'"):
        read_nodes('{"items": []}')
