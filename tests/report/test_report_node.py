"""Observed nodes as people see them."""

from __future__ import annotations

import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.report.node import Observed, show_nodes
from lockstep.verify.kept import Kept
from lockstep.verify.node import Difference

GIB = 2**30
SERVICE = {"exists": True, "state": "running", "start_type": "automatic"}
NODE: dict[str, Any] = {
    "name": "win2025-0",
    "windows": {
        "product": "Windows Server 2025 Datacenter",
        "build": "10.0.26100.2314",
        "edition": "ServerDatacenter",
        "installation": "Server Core",
    },
    "machine": {
        "memory_bytes": 16 * GIB,
        "processors": 4,
        "disks": [{"drive": "C:", "size_bytes": 128 * GIB, "free_bytes": 100 * GIB}],
    },
    "restart_pending": [],
    "features": {"Containers": "installed", "Hyper-V": "install_pending"},
    "versions": {"containerd": "2.3.4", "kubelet": "1.36.1", "crictl": "1.36.0", "kube_proxy": None},
    "services": {"containerd": SERVICE, "kubelet": {**SERVICE, "state": "stopped"}, "kube_proxy": {"exists": False}},
    "containerd": {
        "default_handler": "runhcs-wcow-process",
        "pause_image": "registry.k8s.io/pause:3.10.2",
        "handlers": {"runhcs-wcow-process": {}, "runhcs-wcow-hypervisor": {}},
    },
    "kubelet": {
        "exists": True,
        "kubeconfig": {"exists": True},
        "configuration": {"registerWithTaints": [{"key": "os", "value": "windows", "effect": "NoSchedule"}]},
        "node_labels": {"lockstep.windows/pool": "win2025"},
    },
    "certificates": {
        "kubelet_client": {"exists": True, "not_after": "2026-12-10T00:00:00Z", "days_left": 9},
        "cluster_ca": {"exists": True, "not_after": "2036-01-01T00:00:00Z", "days_left": 3318},
        "kubelet_server": {"exists": False},
    },
    "store": {"entries": [{"name": "containerd", "version": "2.3.4"}]},
    "firewall": {
        "kubelet": None,
        "cni": {
            "action": "allow",
            "direction": "inbound",
            "protocol": "tcp",
            "local_ports": ["4789"],
            "enabled": False,
        },
    },
    "defender": {"present": True, "processes": [r"C:\k\kubelet.exe"], "paths": [r"C:\data"]},
    "power_scheme": "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c",
    "pagefile": [r"?:\pagefile.sys"],
    "long_paths": True,
    "time": {"utc": "2026-11-30T12:00:00Z", "service": "running", "source": "NTP", "server": "time.windows.com,0x8"},
}


def observed(host: str = "win2025-0", **more: Any) -> Observed:
    return Observed(Kept(host, node=NODE), **more)


def test_one_node_is_a_block_in_which_a_mark_stands_beside_what_is_not_as_it_should_be() -> None:
    differs = (Difference("containerd", "pause image is a, planned is b"),)
    lines = show_nodes([observed(pool="win2025", differences=differs, attention=("look here",))], 80).splitlines()
    assert lines[0] == "win2025-0  Windows Server 2025 Datacenter, 10.0.26100.2314  pool win2025"
    for line in (
        "Windows          Server Core, ServerDatacenter, no restart pending",
        "machine          4 processors, 16 GiB memory, C: 100 GiB of 128 GiB free",
        "features         Containers installed, Hyper-V install pending",
        "containerd     ! 2.3.4, service running (automatic)",
        "  handlers       runhcs-wcow-process (default), runhcs-wcow-hypervisor",
        "kubelet        ! 1.36.1, service stopped (automatic)",
        "  cluster        has a kubeconfig",
        "  taints         os=windows:NoSchedule",
        "kube-proxy       not there",
        "certificates   ! 2026-12-10, 9 days: kubelet's client certificate",
        "                 2036-01-01, 3318 days: the cluster's CA",
        "store            containerd 2.3.4",
        "firewall       ! kubelet: no such rule",
        "firewall       ! cni: allow inbound tcp 4789, switched off",
        r"Defender         leaves alone kubelet.exe, C:\data",
        "power            high performance",
        "pagefile         managed by Windows",
        "long paths       on",
        "Differs from the plan of pool win2025",
        "  containerd     pause image is a, planned is b",
        "To look at",
        "  look here",
    ):
        assert line in lines


def test_a_node_as_planned_says_so_and_one_without_a_plan_says_nothing() -> None:
    assert "As the plan of pool win2025 says." in show_nodes([observed(pool="win2025")], 80)
    assert "plan" not in show_nodes([observed()], 80)


def test_several_nodes_are_a_table_and_what_is_true_of_many_is_said_once() -> None:
    differs = (Difference("kubelet", "is 1.36.1, planned is 1.36.2"),)
    hosts = [f"node-{number}" for number in range(5)]
    nodes = [observed(host, pool="win2025", differences=differs if host != "node-4" else ()) for host in hosts]
    text = show_nodes(nodes, 80)
    assert text.splitlines()[:2] == [
        "Node    pool     Windows     containerd  kubelet  handlers  certificate  differs",
        "node-0  win2025  26100.2314  2.3.4       1.36.1!  2         9 days!      1!",
    ]
    assert "kubelet: is 1.36.1, planned is 1.36.2 (node-0, node-1, node-2 and 1 more)" in " ".join(text.split())
    assert text.count("planned is 1.36.2") == 1


def test_what_is_true_of_all_says_so() -> None:
    assert "look (all of them)" in show_nodes([observed(name, attention=("look",)) for name in "ab"], 80)


def test_all_nodes_can_be_shown_in_full() -> None:
    text = show_nodes([observed("a"), observed("b")], 80, full=True)
    assert text.count("pause image") == 2


def test_a_node_that_could_not_be_read_is_told_beside_the_others() -> None:
    text = show_nodes([observed("a"), Observed(Kept("b", error="no route\nto host"))], 80)
    assert "Could not be read\n  b: no route\n    to host\n" in text
    assert show_nodes([Observed(Kept("b", error=""))], 80) == "Could not be read\n  b:\n"


def test_a_node_of_which_little_is_known_is_shown() -> None:
    facts = {"windows": {"build": "10.0.26100.1"}, "errors": {}}
    for count in (1, 2):
        assert "26100.1" in show_nodes([Observed(Kept(f"n{number}", node=facts)) for number in range(count)], 80)


def test_a_machine_that_does_not_tell_its_memory_is_shown() -> None:
    facts = {**NODE, "machine": {**NODE["machine"], "memory_bytes": None}}
    text = show_nodes([Observed(Kept("a", node=facts))], 80)
    assert "machine          4 processors, C: 100 GiB of 128 GiB free" in text.splitlines()


@given(st.lists(st.text(string.ascii_letters + " ", max_size=120), max_size=4), st.integers(60, 200))
def test_no_line_is_wider_than_the_terminal(texts: list[str], width: int) -> None:
    words = [" ".join(word[:20] for word in text.split()) for text in texts]
    nodes = [observed(f"node-{number}", pool="win2025", attention=tuple(words)) for number in range(2)]
    full = show_nodes(nodes, width, full=True)
    assert max(map(len, full.splitlines())) <= max(width, 80)


@pytest.mark.parametrize("part", sorted(set(NODE) - {"windows"}))
def test_any_part_may_be_missing(part: str) -> None:
    facts = {key: value for key, value in NODE.items() if key != part}
    for count in (1, 2):
        assert show_nodes([Observed(Kept(f"n{number}", node=facts)) for number in range(count)], 80)
