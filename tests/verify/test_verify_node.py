"""Where an observed node differs from its pool's plan, what wants attention, and what was kept of it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from lockstep.fleet.plan import PoolPlan, pool_to_data
from lockstep.rules.check import check_data
from lockstep.verify.kept import Kept, read_kept
from lockstep.verify.node import attention, differences, overridden
from lockstep.verify.observed import ObservationError

FLEET = {
    "kubernetes": "1.36.1",
    "containerd": "2.3.4",
    "pools": {"win2025": {"host": "ltsc2025"}},
    "runtime_classes": {
        "windows-2025": {"isolation": "process", "guest": "ltsc2025"},
        "windows-2025-hyperv": {"isolation": "hyperv", "guest": "ltsc2025", "overhead": {"memory": "512Mi"}},
    },
}


@pytest.fixture
def pool() -> PoolPlan:
    plan = check_data(FLEET).plan
    assert plan is not None
    return plan.pools["win2025"]


@pytest.fixture
def node(pool: PoolPlan) -> dict[str, Any]:
    """A node on which everything is as planned."""
    plan = pool_to_data(pool)
    service = {"exists": True, "state": "running", "start_type": "automatic"}
    containerd = plan["containerd"]
    return copy.deepcopy(
        {
            "windows": {"product": "Windows Server 2025 Datacenter", "build": "10.0.26100.2314"},
            "restart_pending": [],
            "features": dict.fromkeys(pool.windows.features, "installed"),
            "versions": {"containerd": "2.3.4", "kubelet": "1.36.1", "crictl": "1.36.0", "kube_proxy": None},
            "services": {name: {"name": name, **service} for name in ("containerd", "kubelet")},
            "containerd": {
                "interrupted": False,
                "default_handler": containerd["default_handler"],
                "pause_image": containerd["pause_image"],
                "handlers": {
                    each["name"]: {"runtime_type": each["runtime_type"], "options": dict(each["options"])}
                    for each in containerd["handlers"]
                },
                "loaded_handlers": [each["name"] for each in containerd["handlers"]],
            },
            "kubelet": {
                "interrupted": False,
                "configuration": {**plan["kubelet"]["configuration"], "clusterDomain": "cluster.local"},
                "node_labels": {**plan["kubelet"]["node_labels"], "own": "label"},
            },
            "certificates": {"kubelet_client": {"exists": True, "not_after": "2027-01-31T12:00:00Z", "days_left": 200}},
            "errors": {},
        }
    )


def test_a_node_that_is_as_planned_has_nothing_to_be_said(node: dict[str, Any], pool: PoolPlan) -> None:
    assert differences(node, pool) == ()
    assert attention(node) == ()


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("windows.build", "10.0.20348.2582", ("Windows", "is Windows Server 2022 (10.0.20348), planned is Windows")),
        ("windows.build", "nonsense", ("Windows", "is nonsense, planned is Windows Server 2025")),
        ("features.Hyper-V", "available", ("Windows", "feature Hyper-V is available, planned is installed")),
        ("features.Containers", "install_pending", ("Windows", "feature Containers is install pending, planned is")),
        ("versions.containerd", "2.3.3", ("containerd", "is 2.3.3, planned is 2.3.4")),
        ("versions.containerd", None, ("containerd", "is not there, planned is 2.3.4")),
        ("services.kubelet.exists", False, ("kubelet", "has no service kubelet")),
        ("services.kubelet.state", "stopped", ("kubelet", "service kubelet is stopped, planned is running")),
        ("services.containerd.state", "stop_pending", ("containerd", "service containerd is stop pending, planned")),
        ("containerd.handlers", {}, ("containerd", "handler runhcs-wcow-process is not there")),
        (
            "containerd.handlers.runhcs-wcow-hypervisor.options.SandboxIsolation",
            True,
            ("containerd", "handler runhcs-wcow-hypervisor: SandboxIsolation is true, planned is 1"),
        ),
        (
            "containerd.handlers.runhcs-wcow-process.runtime_type",
            "io.containerd.runc.v2",
            (
                "containerd",
                "handler runhcs-wcow-process: runtime_type is io.containerd.runc.v2, planned is",
            ),
        ),
        (
            "containerd.default_handler",
            "runc",
            ("containerd", "default handler is runc, planned is runhcs-wcow-process"),
        ),
        ("containerd.pause_image", None, ("containerd", "pause image is not set, planned is registry.k8s.io/pause")),
        (
            "containerd.loaded_handlers",
            ["runhcs-wcow-process"],
            (
                "containerd",
                "handler runhcs-wcow-hypervisor is configured, but the running containerd has not loaded it",
            ),
        ),
        ("kubelet.configuration.registerWithTaints", [], ("kubelet", "registerWithTaints is empty, planned is os=win")),
        ("kubelet.configuration.cgroupsPerQOS", True, ("kubelet", "cgroupsPerQOS is true, planned is false")),
        ("kubelet.node_labels", {}, ("kubelet", "label lockstep.windows/pool is not set, planned is win2025")),
    ],
)
def test_what_differs_is_told(
    node: dict[str, Any], pool: PoolPlan, path: str, value: Any, said: tuple[str, str]
) -> None:
    about, text = said
    _set(node, path, value)
    found = differences(node, pool)
    assert any(each.about == about and text in each.text for each in found), found
    assert {each.about for each in found} == {about}


OVERRIDES = [
    ("containerd_pause_image", "mirror.example/pause:3.10.2", "containerd.pause_image", "mirror.example/pause:3.10.2"),
    ("containerd_pause_image", None, "containerd.pause_image", "any"),
    ("containerd_default_handler", "runc", "containerd.default_handler", "runc"),
    ("containerd_version", None, "versions.containerd", "2.2.0"),
    ("containerd_handlers", [{"name": "own", "options": {"SandboxIsolation": 1}}], "containerd.handlers",
     {"own": {"runtime_type": "any", "options": {"SandboxIsolation": 1}}}),
    ("kubelet_version", "1.35.0", "versions.kubelet", "1.35.0"),
    ("kubelet_configuration", {"maxPods": 30}, "kubelet.configuration", {"maxPods": 30}),
    ("kubelet_node_labels", {"own": 1}, "kubelet.node_labels", {"own": "1"}),
    ("windows_host_build", None, "windows.build", "10.0.20348.2582"),
    ("windows_host_features", None, "features.Containers", "available"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "path", "found"), OVERRIDES, ids=lambda value: str(value)[:20])
def test_a_variable_of_the_host_goes_before_the_plan(
    node: dict[str, Any], pool: PoolPlan, *, name: str, value: Any, path: str, found: Any
) -> None:
    _set(node, path, found)
    if name == "containerd_handlers":
        node["containerd"]["loaded_handlers"] = ["own"]
    assert differences(node, pool)
    assert differences(node, overridden(pool, {name: value})) == ()
    if value is not None:
        _set(node, path, None if path.startswith("versions") else {} if isinstance(found, dict) else "another")
        assert differences(node, overridden(pool, {name: value}))


@pytest.mark.parametrize("part", ["features", "containerd", "kubelet", "certificates", "services", "restart_pending"])
def test_what_could_not_be_read_is_no_difference(node: dict[str, Any], pool: PoolPlan, part: str) -> None:
    del node[part]
    assert differences(node, pool) == ()
    assert attention(node) == ()


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("services.kubelet.state", "stopped", "service kubelet is stopped"),
        ("services.kubelet.state", "start_pending", "service kubelet is start pending"),
        ("restart_pending", ["windows_update"], "Windows waits for a restart: Windows Update"),
        ("containerd.interrupted", True, "a change of containerd was interrupted: the next run of its role completes"),
        ("containerd.error", "toml: expected a key", "containerd: toml: expected a key"),
        ("kubelet.configuration_error", "no mapping", "kubelet: no mapping"),
        ("certificates.kubelet_client.days_left", 29, "kubelet's client certificate expires on 2027-01-31, in 29 days"),
        ("certificates.kubelet_client.days_left", 1, "kubelet's client certificate expires on 2027-01-31, in 1 day"),
        ("certificates.kubelet_client.days_left", -1, "kubelet's client certificate has expired, on 2027-01-31"),
        ("errors", {"time_service": "Access is denied. [denied]"}, "time service could not be read: Access is denied."),
    ],
)
def test_what_wants_attention_is_told(node: dict[str, Any], path: str, value: Any, text: str) -> None:
    _set(node, path, value)
    [found] = attention(node)
    assert found.startswith(text)


@pytest.mark.parametrize(
    ("path", "value"), [("services.kubelet", {"exists": False}), ("certificates.kubelet_client.days_left", 30)]
)
def test_what_is_as_it_may_be_wants_none(node: dict[str, Any], path: str, value: Any) -> None:
    _set(node, path, value)
    assert attention(node) == ()


def test_a_stopped_service_that_is_disabled_wants_none(node: dict[str, Any]) -> None:
    node["services"]["kubelet"] |= {"state": "stopped", "start_type": "disabled"}
    assert attention(node) == ()


def test_a_stopped_service_is_a_difference_and_not_told_twice(node: dict[str, Any], pool: PoolPlan) -> None:
    node["services"]["kubelet"] |= {"state": "stopped", "start_type": "disabled"}
    node["services"]["kube_proxy"] = {**node["services"]["kubelet"], "name": "kube-proxy", "start_type": "manual"}
    assert [each.text for each in differences(node, pool)] == ["service kubelet is stopped, planned is running"]
    assert attention(node, compared=True) == ("service kube-proxy is stopped",)


def test_what_was_kept_is_read_by_host(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps({"host": "b", "groups": ["g"], "node": {"windows": {}}}))
    (tmp_path / "a.json").write_text(json.dumps({"host": "a", "groups": [], "error": "no route", "unreachable": True}))
    expected = [Kept("a", (), None, "no route"), Kept("b", ("g",), {"windows": {}})]
    assert read_kept([tmp_path]) == expected
    assert read_kept([tmp_path / "b.json", tmp_path / "a.json"]) == expected


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"host": "a", "groups": 1}', '{"host": "a", "groups": []}', "\xff"]
)
def test_what_is_something_else_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content, encoding="latin-1")
    with pytest.raises(ObservationError, match=r"a\.json is not what playbooks/observe\.yml keeps"):
        read_kept([tmp_path])
    with pytest.raises(ObservationError, match="cannot be read"):
        read_kept([tmp_path / "none.json"])


def _set(node: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for name in parents:
        node = node[name]
    node[last] = value
