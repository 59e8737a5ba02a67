"""What speaks against a machine, as data: one list of what differs from a machine that is as it should be."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.node.operations import read_service
from lockstep.windows import features, host
from lockstep.windows.aspect import Observed
from lockstep.windows.machine import Needs
from lockstep.windows.preflight import Site, problems
from lockstep.windows.problem import CHECKS
from lockstep.windows.settings import HostSettings

CASES = yaml.safe_load((Path(__file__).parent / "preflight.yaml").read_text(encoding="utf-8"))
GIGABYTE = 1024**3
SYSTEM = {
    "build": "10.0.20348.2582",
    "product": "Windows Server 2022 Datacenter",
    "computer_name": "WIN2022-0",
    "host_name": "WIN2022-0",
}
MACHINE = {
    "edition": "ServerDatacenter",
    "installation": "Server Core",
    "memory_bytes": 16 * GIGABYTE,
    "processors": 4,
    "disks": [{"drive": "C:", "size_bytes": 128 * GIGABYTE, "free_bytes": 100 * GIGABYTE}],
    "hypervisor_present": False,
    "virtualization_firmware": True,
    "reboot_pending": [],
    "boot_marker": None,
    "uptime_ms": 60000,
    "utc": "2026-11-30T12:00:00Z",
    "winrm": {"max_memory_mb": 1024, "max_processes": 25, "max_shells": 30},
}
FEATURES = {"Containers": "available", "Hyper-V": "available", "Hyper-V-PowerShell": "available"}
WINRM = {"exists": True, "state": "running", "start_type": "automatic"}
NEEDS = {"memory_mb": 4096, "processors": 2, "free_disk_gb": 20, "hyperv": True}


def found(case: dict[str, Any]) -> list[tuple[str, str, str]]:
    settings = HostSettings(features=("Containers", "Hyper-V"))
    answers = [
        (host.SYSTEM, {**SYSTEM, **case.get("system", {})}),
        (host.MACHINE, {**MACHINE, **case.get("machine", {})}),
        (host.CONTAINERD, {"exists": case.get("containerd", False)}),
        (read_service("kubelet"), {"exists": case.get("kubelet", False)}),
        (host.WINRM, {**WINRM, **case.get("winrm", {})}),
        (features.reading(settings.features), {"features": {**FEATURES, **case.get("features", {})}}),
    ]
    now = case.get("now", datetime(2026, 11, 30, 12, tzinfo=UTC))
    site = Site(case.get("host", "ltsc2022"), case.get("other"), now, case.get("node_name", ""))
    needs = Needs(**{**NEEDS, **case.get("needs", {})})
    told = problems(settings, needs, site, Observed.of(*zip(*answers, strict=True)))
    return [("refuses" if one.refuses else "warns", one.check, f"{one.text}; {one.do}") for one in told]


@pytest.mark.parametrize("case", CASES, ids=[case["why"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    told = found(case)
    assert [(outcome, check) for outcome, check, _ in told] == [(one[0], one[1]) for one in case["expect"]]
    for (_, _, text), (_, _, *words) in zip(told, case["expect"], strict=True):
        for word in words:
            assert str(word) in text


def test_every_check_has_a_case() -> None:
    assert {one[1] for case in CASES for one in case["expect"]} == set(CHECKS)
