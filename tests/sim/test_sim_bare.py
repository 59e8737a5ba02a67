"""A bare node: what a new Windows Server has, its machine, its restarts."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from lockstep.catalog.data import load
from lockstep.cli import sim as command
from lockstep.node.operations import (
    Operation,
    install_features,
    read_features,
    read_file,
    read_machine,
    read_power,
    read_service,
    read_system,
    restart_system,
)
from lockstep.sim import EmulatedEngine, NodeSpec
from lockstep.sim.fresh import PREPARED
from lockstep.sim.hardware import Hardware
from lockstep.sim.services import Service

Make = Callable[..., EmulatedEngine]
GIBIBYTE = 2**30


@pytest.fixture
def bare(make: Make) -> EmulatedEngine:
    return make(build="10.0.26100.2894", prepared="nothing", machine={"restart_seconds": 0.2})


def read(engine: EmulatedEngine, operation: Operation) -> Any:
    return engine.session().read([operation])[0]


def wait_for_boot(engine: EmulatedEngine, number: int) -> None:
    deadline = time.monotonic() + 5
    while engine.boot != number:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def restart(engine: EmulatedEngine, marker: str = "m", delay: int = 1) -> None:
    engine.session().apply("test", [restart_system(marker, reason="a test", delay_seconds=delay)])


def test_it_has_nothing_of_ours(bare: EmulatedEngine) -> None:
    drive = bare.folder / "C"
    assert sorted(path.name for path in drive.iterdir()) == ["ProgramData", "Windows"]
    assert [path.name for path in drive.rglob("*") if path.is_file()] == ["curl.exe"]
    for name in ("containerd", "kubelet", "hns", "vmcompute", "vmms"):
        assert not read(bare, read_service(name))["exists"]


def test_it_has_the_services_of_windows(bare: EmulatedEngine) -> None:
    for name in load("windows-server")["services"]:
        service = read(bare, read_service(name))
        assert (service["state"] == "running") == (service["start_type"] == "automatic")
    bare.power_off(0)
    assert bare.boot == 2
    assert read(bare, read_service("w32time"))["state"] == "running"


def test_its_features_are_not_installed(bare: EmulatedEngine) -> None:
    names = ["Containers", "Hyper-V", "Hyper-V-PowerShell", "Telnet"]
    assert read(bare, read_features(names))["features"] == {
        "Containers": "available",
        "Hyper-V": "available",
        "Hyper-V-PowerShell": "available",
        "Telnet": "unknown",
    }


def test_its_registry_says_what_it_is(bare: EmulatedEngine) -> None:
    registry = json.loads((bare.folder / "registry.json").read_text())
    version = registry["SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion"]
    assert {name: entry["value"] for name, entry in version.items()} == {
        "ProductName": "Windows Server 2025 Datacenter",
        "EditionID": "ServerDatacenter",
        "InstallationType": "Server Core",
        "CurrentBuild": "26100",
        "CurrentBuildNumber": "26100",
        "UBR": 2894,
        "CurrentMajorVersionNumber": 10,
        "CurrentMinorVersionNumber": 0,
    }
    memory = registry["SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management"]
    assert memory["PagingFiles"] == {"kind": "multi_string", "value": ["?:\\pagefile.sys"]}
    assert registry["SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters"]["Hostname"]["value"] == "node"


def test_its_power_scheme_is_balanced(bare: EmulatedEngine) -> None:
    assert read(bare, read_power())["scheme"] == "381b4222-f694-41f0-9685-ff5bb260df2e"


def test_programs_without_services(make: Make) -> None:
    engine = make(prepared="programs")
    for path in ("C:\\Program Files\\containerd\\containerd.exe", "C:\\Program Files\\containerd\\crictl.exe",
                 "C:\\k\\kubelet.exe", "C:\\k\\kube-log-runner.exe"):  # fmt: skip
        assert read(engine, read_file(path))["exists"]
    assert not read(engine, read_service("containerd"))["exists"]
    assert read(engine, read_service("hns"))["exists"]
    assert read(engine, read_features(["Hyper-V"]))["features"] == {"Hyper-V": "installed"}


def test_the_machine_is_what_it_was_told(make: Make) -> None:
    engine = make(
        "node-1", prepared="nothing", machine={"memory": "8Gi", "processors": 2, "disk": "64Gi", "nested": False}
    )
    machine = read(engine, read_machine())
    assert (machine["memory_bytes"], machine["processors"]) == (8 * GIBIBYTE, 2)
    assert machine["disks"] == [{"drive": "C:", "size_bytes": 64 * GIBIBYTE, "free_bytes": 64 * GIBIBYTE}]
    assert (machine["hypervisor_present"], machine["virtualization_firmware"]) == (True, False)
    assert machine["winrm"] == {"max_memory_mb": 1024, "max_processes": 25, "max_shells": 30}
    assert (machine["reboot_pending"], machine["boot_marker"]) == ([], None)
    assert read(engine, read_system())["host_name"] == "node-1"


@pytest.mark.parametrize(
    ("virtual", "nested", "hyperv", "expected"),
    [
        (True, True, "available", (True, True)),
        (True, False, "available", (True, False)),
        (False, False, "available", (False, True)),
        (False, False, "installed", (True, False)),
        (True, True, "installed", (True, False)),
    ],
)
def test_hypervisors(
    virtual: bool,  # noqa: FBT001 - a fact, not a switch
    nested: bool,  # noqa: FBT001
    hyperv: str,
    expected: tuple[bool, bool],
    make: Make,
) -> None:
    engine = make(prepared="nothing", machine={"virtual": virtual, "nested": nested})
    (engine.folder / "features.json").write_text(json.dumps({"Hyper-V": hyperv}))
    machine = read(engine, read_machine())
    assert (machine["hypervisor_present"], machine["virtualization_firmware"]) == expected


def test_features_come_with_the_restart(bare: EmulatedEngine) -> None:
    bare.session().apply("test", [install_features(["Containers", "Hyper-V"])])
    assert read(bare, read_features(["Containers"]))["features"] == {"Containers": "install_pending"}
    assert read(bare, read_machine())["reboot_pending"] == ["component_servicing"]
    assert not read(bare, read_service("hns"))["exists"]
    restart(bare)
    wait_for_boot(bare, 2)
    assert read(bare, read_features(["Containers"]))["features"] == {"Containers": "installed"}
    machine = read(bare, read_machine())
    assert (machine["reboot_pending"], machine["virtualization_firmware"]) == ([], False)
    assert read(bare, read_service("hns"))["state"] == "stopped"
    assert read(bare, read_service("vmms"))["state"] == "running"


def test_what_waits_for_a_restart_is_told(bare: EmulatedEngine) -> None:
    path = bare.folder / "registry.json"
    registry = json.loads(path.read_text())
    registry["SYSTEM\\CurrentControlSet\\Control\\Session Manager"] = {
        "PendingFileRenameOperations": {"kind": "multi_string", "value": ["\\??\\C:\\a", ""]}
    }
    registry["SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\WindowsUpdate\\Auto Update\\RebootRequired"] = {}
    names = "SYSTEM\\CurrentControlSet\\Control\\ComputerName\\ComputerName"
    registry[names]["ComputerName"]["value"] = "OTHER"
    path.write_text(json.dumps(registry))
    assert read(bare, read_machine())["reboot_pending"] == ["windows_update", "file_renames", "computer_name"]
    restart(bare)
    wait_for_boot(bare, 2)
    assert read(bare, read_machine())["reboot_pending"] == []


def test_a_restart_begins_after_the_answer_and_takes_its_time(bare: EmulatedEngine) -> None:
    restart(bare, "this boot")
    assert read(bare, read_machine())["boot_marker"] == "this boot"
    assert bare.boot == 1
    time.sleep(1.05)
    assert bare.boot is None
    wait_for_boot(bare, 2)
    assert read(bare, read_machine())["boot_marker"] is None


def test_a_restart_waits_for_nobody_who_has_left(bare: EmulatedEngine) -> None:
    restart(bare, delay=600)
    time.sleep(0.1)
    assert bare.boot == 1
    bare.left_alone()
    wait_for_boot(bare, 2)


def test_a_restart_that_nobody_watches_is_over_in_its_time(bare: EmulatedEngine) -> None:
    restart(bare)
    time.sleep(1.3)
    assert bare.boot == 2


def test_a_node_that_does_not_come_back(bare: EmulatedEngine) -> None:
    bare.faults.add(kind="restart", off_seconds=None)
    restart(bare)
    time.sleep(1.4)
    assert bare.boot is None
    bare.power_on()
    assert bare.boot == 2
    assert read(bare, read_machine())["boot_marker"] is None


def test_a_node_that_is_slow_to_come_back(bare: EmulatedEngine) -> None:
    bare.faults.add(kind="restart", off_seconds=0.8)
    restart(bare)
    time.sleep(1.5)
    assert bare.boot is None
    wait_for_boot(bare, 2)


def test_a_node_that_restarts_once_more(bare: EmulatedEngine) -> None:
    bare.faults.add(kind="restart", off_seconds=0.1, again=1)
    restart(bare)
    wait_for_boot(bare, 2)
    wait_for_boot(bare, 3)
    time.sleep(0.8)
    assert bare.boot == 3


def test_the_state_of_a_bare_node_is_opened_again(bare: EmulatedEngine) -> None:
    again = EmulatedEngine(bare.folder, NodeSpec("node", "10.0.26100.2894"))
    assert read(again, read_machine())["memory_bytes"] == 16 * GIBIBYTE
    assert not read(again, read_service("containerd"))["exists"]


def wrapped(engine: EmulatedEngine, name: str, line: str, **parameters: str) -> Service:
    """Return a service of this command line after it was started; `parameters` are nssm's."""
    if parameters:
        path = engine.folder / "registry.json"
        registry = json.loads(path.read_text())
        key = f"SYSTEM\\CurrentControlSet\\Services\\{name}\\Parameters"
        registry[key] = {key: {"kind": "expand_string", "value": value} for key, value in parameters.items()}
        path.write_text(json.dumps(registry))
        engine.machine.disk.write("C:\\k\\nssm.exe", b"lockstep simulated program: nssm.exe 2.24\r\n")
    engine.services.add(Service(name, name, line))
    return engine.services.start(name)


def kubelet_line(engine: EmulatedEngine) -> str:
    service = engine.services.get("kubelet")
    assert service is not None
    needs = "--container-runtime-endpoint=npipe:////./pipe/containerd-containerd --cgroups-per-qos=false"
    return f"{service.binary_path} {needs} --enforce-node-allocatable="


def test_kube_log_runner_runs_what_it_is_told(engine: EmulatedEngine) -> None:
    line = f"C:\\k\\kube-log-runner.exe -log-file=C:\\var\\kubelet.log {kubelet_line(engine)}"
    assert wrapped(engine, "wrapped", line).state == "running"
    memory = engine.machine.memory("wrapped")
    assert memory is not None
    assert memory["program"] == "kubelet"
    assert "kubelet.exe" in (engine.machine.disk.text("C:\\var\\kubelet.log") or "")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("C:\\k\\kube-log-runner.exe", "not enough arguments to run"),
        ("C:\\k\\kube-log-runner.exe -logfile=x C:\\k\\kubelet.exe", "flag provided but not defined: -logfile"),
        ("C:\\k\\kube-log-runner.exe C:\\none.exe", "file does not exist"),
        ("C:\\k\\kube-log-runner.exe -log-file=C:\\none\\a.log C:\\k\\kubelet.exe", "failed to create log file"),
    ],
)
def test_kube_log_runner_that_cannot(line: str, words: str, engine: EmulatedEngine) -> None:
    with pytest.raises(Exception, match="1053"):
        wrapped(engine, "wrapped", line)
    assert words in (engine.folder / "events.log").read_text()


def test_rotation_came_to_kube_log_runner_with_1_34(make: Make) -> None:
    line = "C:\\k\\kube-log-runner.exe -log-file=C:\\a.log -log-file-size=100Mi "
    new, old = make("new"), make("old", kubernetes="1.33.0")
    assert wrapped(new, "wrapped", line + kubelet_line(new)).state == "running"
    with pytest.raises(Exception, match="1053"):
        wrapped(old, "wrapped", line + kubelet_line(old))


def test_nssm_runs_what_the_registry_says(engine: EmulatedEngine) -> None:
    arguments = kubelet_line(engine).partition(" ")[2].replace("--windows-service ", "")
    service = wrapped(engine, "k", "C:\\k\\nssm.exe", Application="C:\\k\\kubelet.exe", AppParameters=arguments)
    assert service.state == "running"
    memory = engine.machine.memory("k")
    assert memory is not None
    assert memory["program"] == "kubelet"


def test_nssm_waits_where_its_program_does_not_stay_up(engine: EmulatedEngine) -> None:
    service = wrapped(engine, "k", "C:\\k\\nssm.exe", Application="C:\\k\\kubelet.exe", AppParameters="--no-such-flag")
    assert service.state == "paused"
    assert "unknown flag: --no-such-flag" in (engine.folder / "events.log").read_text()


def test_the_command_knows_how_nodes_are_prepared() -> None:
    assert command.PREPARED == PREPARED


ENTRIES: list[tuple[Any, str]] = [
    ({"name": "a", "bare": True, "prepared": "programs"}, "contradict"),
    ({"name": "a", "bare": "yes"}, "true or false"),
    ({"name": "a", "prepared": "all"}, "one of services, programs, nothing"),
    ({"name": "a", "machine": {"memroy": "1Gi"}}, "memroy is no setting"),
    ({"name": "a", "machine": {"memory": "much"}}, "expected a size"),
    ({"name": "a", "machine": {"processors": "two"}}, "expected a number"),
    ({"name": "a", "machine": {"nested": "perhaps"}}, "expected true or false"),
    ({"name": "a", "machine": "big"}, "holds settings"),
]


@pytest.mark.parametrize(("entry", "words"), ENTRIES, ids=lambda value: str(value)[:40])
def test_wrong_entries(entry: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        NodeSpec.of(entry).facts()


def test_an_entry_wins_over_what_is_usual() -> None:
    usual = {"prepared": "nothing", "machine": {"memory": "8Gi", "processors": "2"}}
    assert NodeSpec.of({"name": "a"}, usual).prepared == "nothing"
    assert NodeSpec.of({"name": "a", "bare": False}, usual).prepared == "services"
    assert NodeSpec.of({"name": "a", "prepared": "programs"}, usual).prepared == "programs"
    machine = Hardware.of(NodeSpec.of({"name": "a", "machine": {"memory": "4Gi"}}, usual).machine)
    assert (machine.memory, machine.processors) == (4 * GIBIBYTE, 2)
