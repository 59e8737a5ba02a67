"""From bare Windows Servers to healthy services, as a user goes it; and what happens on the way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ansible.site import ROOT, Site

from lockstep.sim import NodeSpec, SimulatedNodes

PROVISION = ROOT / "playbooks" / "provision.yml"
ONE = ("--limit", "win2025-0")
FIRST_RUN, NOTHING_TO_DO = 60, 12
"""WinRM requests that a node may get in one run of the whole play."""
ROLES = ("Prepare Windows", "Put the artifacts in place", "Configure containerd", "Make kubelet's service")
SECRET = "0123456789abcdef"  # noqa: S105 - of the demo's inventory

pytestmark = pytest.mark.slow


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    machine = {"restart_seconds": 0.5}
    specs = [
        NodeSpec("win2022-0", "ltsc2022", "2.3.4", "1.36.1", prepared="nothing", machine=machine),
        NodeSpec("win2025-0", "ltsc2025", "2.3.4", "1.36.1", prepared="nothing", machine=machine),
    ]
    with SimulatedNodes(tmp_path / "nodes", specs) as nodes:
        yield Site(tmp_path, nodes)


def files(site: Site, name: str) -> set[str]:
    drive = site.nodes.engine(name).folder / "C"
    return {str(path.relative_to(drive)) for path in drive.rglob("*")}


def running(site: Site, name: str) -> dict[str, str]:
    services = {service: site.nodes.engine(name).services.get(service) for service in ("containerd", "kubelet")}
    return {name: found.state for name, found in services.items() if found is not None}


def test_check_mode_is_complete_on_a_bare_server_and_touches_nothing(site: Site) -> None:
    before = {name: files(site, name) for name in site.nodes.names}
    # What an earlier role would install is not there: that is a warning in check mode.
    output = site.play(PROVISION, "--check", "--diff", warns=True)
    assert site.changed(output) == dict.fromkeys(site.nodes.names, len(ROLES))
    assert {name: files(site, name) for name in site.nodes.names} == before
    assert not any(running(site, name) for name in site.nodes.names)
    for planned in ("Containers", "containerd 2.3.4", "runhcs-wcow-hypervisor", "KubeletConfiguration", "C:\\k"):
        assert planned in output, planned
    assert SECRET not in output


def test_two_runs_to_healthy_nodes(site: Site) -> None:
    first = site.play(PROVISION, "--diff", "-vv")
    assert site.changed(first) == dict.fromkeys(site.nodes.names, len(ROLES))
    assert SECRET not in first
    assert max(site.requests().values()) <= FIRST_RUN
    for name in site.nodes.names:
        assert running(site, name) == {"containerd": "running", "kubelet": "running"}
        assert site.nodes.engine(name).boot == 2
    nodes = site.nodes.cluster.list()["items"]
    assert [node["metadata"]["name"] for node in nodes] == site.nodes.names
    again = site.play(PROVISION)
    assert site.changed(again) == dict.fromkeys(site.nodes.names, 0)
    assert max(site.requests().values()) <= NOTHING_TO_DO


def control(site: Site, **fault: Any) -> None:
    site.nodes.faults("win2025-0").add(**fault)


def mirror(site: Site, **fault: Any) -> None:
    site.nodes.mirror_faults.set([{"times": None, **fault}])


def taken(site: Site) -> None:
    """Have somebody else's service under kubelet's name."""
    from lockstep.sim.services import Service  # noqa: PLC0415 - one case alone needs it

    site.nodes.engine("win2025-0").services.add(
        Service("kubelet", "Of somebody else", "C:\\Windows\\System32\\svchost.exe -k other", "manual")
    )


# What goes wrong, what is said of it, and what makes it good again.
FAILURES: dict[str, tuple[Callable[[Site], None], tuple[str, ...], tuple[str, ...]]] = {
    "a reboot that never comes back": (
        lambda site: control(site, kind="restart", off_seconds=None),
        ("restart Windows", "was not back after 4 s"),
        ("-e", "windows_host_reboot_timeout=4"),
    ),
    "a download that is cut off": (
        lambda site: mirror(site, path="*containerd-2.3.4*.tar.gz", does="cut", bytes=60),
        ("containerd 2.3.4",),
        (),
    ),
    "a page in place of a program": (
        lambda site: mirror(site, path="*/kubelet.exe", does="page"),
        ("kubelet 1.36.1", "SHA-256"),
        (),
    ),
    "no room": (lambda site: control(site, kind="disk_full", path="C:\\ProgramData\\lockstep"), ("space",), ()),
    "power lost while Windows is prepared": (lambda site: control(site, kind="power", step=9), ("connection",), ()),
    "kubelet that dies": (
        lambda site: control(site, kind="service", name="kubelet", does="dies", after_seconds=1.0),
        ("kubelet", "stopped again after 1"),
        (),
    ),
    "a service name that is taken": (taken, ("kubelet", "svchost.exe"), ()),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_names_step_and_fix_and_the_next_run_heals(case: str, site: Site) -> None:
    happens, said, arguments = FAILURES[case]
    happens(site)
    # Ansible itself warns of a connection that breaks while it sends.
    output = site.play(PROVISION, *ONE, *arguments, status=2, warns="power" in case)
    for words in said:
        assert words in output
    assert "  do  " in output
    engine = site.nodes.engine("win2025-0")
    site.nodes.mirror_faults.set([])
    engine.faults.clear()
    if case == "a service name that is taken":
        engine.services.remove("kubelet")
    if engine.boot is None:
        engine.power_on()
    site.play(PROVISION, *ONE)
    assert running(site, "win2025-0") == {"containerd": "running", "kubelet": "running"}
    assert site.changed(site.play(PROVISION, *ONE)) == {"win2025-0": 0}
    features = json.loads((engine.folder / "features.json").read_text())
    assert {features[name] for name in ("Containers", "Hyper-V", "Hyper-V-PowerShell")} == {"installed"}
