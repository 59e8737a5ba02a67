"""windows_host on simulated bare servers: what it does, what it refuses, what a restart and a failure do to it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.ansible.conftest import Node, validated

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import ConnectionBrokeError
from lockstep.ansible.windows_host import restart as windows_host_restart
from lockstep.ansible.windows_host.configure import Surroundings, prepare, read_operations
from lockstep.ansible.windows_host.restart import LABEL
from lockstep.node.operations import read_defender, read_features, read_firewall, read_power
from lockstep.sim import NodeSpec
from lockstep.sim.engine import PowerLost
from lockstep.sim.services import Service

HYPERV = ["Containers", "Hyper-V", "Hyper-V-PowerShell"]
READINGS = [read_features(HYPERV), read_defender(), read_power()]
INSTALLED = dict.fromkeys(HYPERV, "installed")
REFUSED = yaml.safe_load((Path(__file__).parent / "cases" / "windows-host-refused.yaml").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows_host_restart, "_DELAY_SECONDS", 1)
    monkeypatch.setattr(windows_host_restart, "_PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(windows_host_restart, "_SETTLE_SECONDS", 0.7)


class Host:
    """A bare simulated server and the job on it."""

    def __init__(self, folder: Path, **machine: Any) -> None:
        settings = {"restart_seconds": 0.1, **machine}
        self.node = Node(folder, NodeSpec("win2025-0", "ltsc2025", prepared="nothing", machine=settings))
        self.reconnected = 0
        self.claims: dict[str, str] = {}

    def do(self, *, check_mode: bool = False, **given: Any) -> dict[str, Any]:
        arguments = validated("windows_host", {"features": HYPERV, "host": "ltsc2025", **given})
        around = Surroundings(self._reconnect, self.claims.get)
        return prepare(self.node.new_session(), arguments, around, check_mode=check_mode)

    def _reconnect(self) -> None:
        self.reconnected += 1

    def state(self, name: str) -> dict[str, Any]:
        """What the node keeps under a name; empty where all is as on a new server."""
        path = self.node.engine.folder / f"{name}.json"
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def set_state(self, name: str, change: Callable[[dict[str, Any]], object]) -> None:
        state = self.state(name)
        change(state)
        (self.node.engine.folder / f"{name}.json").write_text(json.dumps(state))

    def everything(self) -> dict[str, Any]:
        """All that the task may change, as the node tells it."""
        answers = self.node.new_session().read([*READINGS, read_firewall(["kubelet"])])
        registry = {key.lower(): values for key, values in self.state("registry").items() if values}
        return {"answers": answers, "registry": registry}


@pytest.fixture
def server(tmp_path: Path) -> Host:
    return Host(tmp_path)


def failure(server: Host, *, check_mode: bool = False, **given: Any) -> TaskError:
    with pytest.raises(TaskError) as caught:
        server.do(check_mode=check_mode, **given)
    return caught.value


def test_a_bare_server_is_prepared_and_the_second_run_does_nothing(server: Host) -> None:
    shown = server.do(check_mode=True)
    assert server.state("features")["Containers"] == "available"
    done = server.do()
    assert done["steps"] == shown["steps"]
    assert done["diff"] == shown["diff"]
    assert (done["features"], done["restarted"], done["restart_needed"]) == (INSTALLED, True, False)
    assert done["steps"][-2:] == [f"install features {', '.join(HYPERV)}", LABEL]
    assert server.node.engine.boot == 2
    assert server.node.leftovers == []
    before = server.node.requests
    again = server.do()
    assert (again["changed"], again["steps"], again["diff"]) == (False, [], [])
    assert server.node.requests == before + 1


def test_everything_is_set_that_a_node_needs(server: Host) -> None:
    server.do(
        dns_suffixes=["svc.cluster.local", "example.com"],
        time_servers=["ntp.example.com"],
        defender_paths=["C:\\ProgramData\\containerd"],
    )
    registry = {key.lower(): value for key, value in server.state("registry").items()}
    control = "system\\currentcontrolset\\control\\"
    services = "system\\currentcontrolset\\services\\"
    assert registry[f"{control}filesystem"]["LongPathsEnabled"] == {"kind": "dword", "value": 1}
    assert registry[f"{services}hns\\state"]["EnableCompartmentNamespace"]["value"] == 1
    assert registry[f"{services}tcpip\\parameters"]["SearchList"]["value"] == "svc.cluster.local,example.com"
    assert registry[f"{services}w32time\\parameters"]["NtpServer"]["value"] == "ntp.example.com,0x8"
    path = registry[f"{control}session manager\\environment"]["Path"]
    assert path["kind"] == "expand_string"
    assert path["value"].startswith("%SystemRoot%\\system32;")
    assert path["value"].endswith(";C:\\k;C:\\Program Files\\containerd")
    assert server.state("firewall")["kubelet"]["local_ports"] == ["10250"]
    assert "C:\\k\\kubelet.exe" in server.state("defender")["processes"]
    assert server.state("power")["scheme"] == "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c"
    assert server.node.file("C:\\etc\\kubernetes\\pki").is_dir()
    assert server.node.file("C:\\var\\lib\\kubelet\\pki").is_dir()


def test_check_mode_asks_once_and_changes_nothing(server: Host) -> None:
    before, asked = server.everything(), server.node.requests
    shown = server.do(check_mode=True)
    assert server.node.requests == asked + 1
    assert server.everything() == before
    assert shown["restart_needed"]
    assert shown["restart_reasons"] == [f"feature {name}" for name in HYPERV]
    titles = [entry["after_header"] for entry in shown["diff"]]
    assert titles[-2:] == ["Windows features", "restart of Windows"]
    assert "folders" in titles


def test_a_node_without_a_pagefile_gets_one_and_restarts_for_it(server: Host) -> None:
    server.do()
    key = "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management"
    server.set_state("registry", lambda state: state[key].update(PagingFiles={"kind": "multi_string", "value": []}))
    done = server.do()
    assert done["steps"] == ["have Windows manage a pagefile", LABEL]
    assert not server.do()["changed"]


def test_report_changes_everything_and_leaves_the_restart(server: Host) -> None:
    done = server.do(reboot="report")
    assert done["restart_needed"]
    assert not done["restarted"]
    pending = dict.fromkeys(("Containers", "Hyper-V"), "install_pending")
    assert done["features"] == {**pending, "Hyper-V-PowerShell": "installed"}
    assert done["restart_reasons"] == ["feature Containers", "feature Hyper-V"]
    assert any("waits for a restart" in text for text in done["warnings"])
    waits = server.do(reboot="report")
    assert (waits["changed"], waits["restart_needed"]) == (False, True)
    server.node.engine.power_off(0)
    assert server.node.engine.boot == 2
    settled = server.do(reboot="report")
    assert (settled["changed"], settled["restart_needed"], settled["warnings"]) == (False, False, [])


def test_check_mode_says_that_windows_would_be_restarted_and_why(server: Host) -> None:
    because = f"because of {', '.join(f'feature {name}' for name in HYPERV)}"
    shown = server.do(check_mode=True)
    assert shown["msg"] == f"Windows would be restarted, {because}"
    assert shown["diff"][-1]["after_header"] == "restart of Windows"
    assert "Windows is restarted, because of feature Containers\n" in shown["diff"][-1]["after"]
    left = server.do(check_mode=True, reboot="report")
    assert "msg" not in left
    assert "Windows waits for a restart, because of feature Hyper-V\n" in left["diff"][-1]["after"]
    [warning] = left["warnings"]
    assert f"Windows would wait for a restart, {because}: without --check this host's play ends here" in warning


@pytest.mark.parametrize("pending", [False, True])
def test_check_mode_fails_where_the_real_run_does(server: Host, *, pending: bool) -> None:
    if pending:
        server.set_state("features", lambda state: state.update({"Hyper-V-Tools": "install_pending"}))
    shown, real = failure(server, check_mode=True, reboot="never"), failure(server, reboot="never")
    assert shown.message == real.message
    assert shown.facts["do"] == real.facts["do"]
    assert shown.result["steps"] == real.result["steps"]


def test_never_fails_with_the_changes_made_and_the_run_after_the_restart_goes_on(server: Host) -> None:
    error = failure(server, reboot="never")
    assert "Windows has to be restarted, and lockstep_reboot is never" in str(error)
    assert "feature Containers" in str(error)
    assert error.result["changed"] is True
    assert server.state("firewall")["kubelet"]
    assert "Windows has to be restarted" in str(failure(server, reboot="never"))
    server.node.engine.power_off(0)
    assert server.node.engine.boot == 2
    assert not server.do(reboot="never")["changed"]


def test_a_node_on_which_kubelet_runs_is_restarted_only_where_that_is_said(server: Host) -> None:
    service = Service("kubelet", "kubelet", "C:\\k\\kubelet.exe")
    service.state = "running"
    server.node.engine.services.add(service)
    for check_mode, word in ((True, "would do"), (False, "done")):
        error = failure(server, check_mode=check_mode)
        text = " ".join(str(error).split())
        assert "kubelet runs on this node: its pods would end" in text
        assert "kubectl drain win2025-0" in text
        assert word in error.facts
        assert error.result["changed"] is True
    assert server.node.engine.boot == 1
    done = server.do(reboot="always")
    assert (done["steps"], done["features"]) == ([LABEL], INSTALLED)


def test_a_new_name_of_the_computer_is_in_effect_before_kubelet_registers(server: Host) -> None:
    key = "SYSTEM\\CurrentControlSet\\Control\\ComputerName\\ComputerName"
    server.do()
    new = {"kind": "string", "value": "WIN2025-9"}
    server.set_state("registry", lambda state: state[key].update(ComputerName=new))
    assert server.do(check_mode=True)["restart_reasons"] == ["the computer's new name"]
    assert server.do()["steps"] == [LABEL]
    assert not server.do()["changed"]


def test_a_restart_that_never_comes_back_ends_in_time_and_the_rerun_goes_on(tmp_path: Path) -> None:
    server = Host(tmp_path, restart_seconds=10000)
    error = failure(server, reboot_timeout=3)
    text = str(error)
    assert "was not back after 3 s" in text
    assert "restart Windows, because of feature Containers" in " ".join(text.split())
    assert "look at the machine's console" in " ".join(text.split())
    server.node.engine.power_on()
    done = server.do()
    assert (done["changed"], done["features"]) == (False, INSTALLED)


@pytest.mark.parametrize("again", [1, 2])
@pytest.mark.parametrize("seconds", [0.05, 0.4, 1.5])
def test_windows_that_restarts_again_by_itself_is_waited_for(tmp_path: Path, again: int, seconds: float) -> None:
    server = Host(tmp_path, restart_seconds=seconds)
    server.node.engine.faults.add(kind="restart", off_seconds=0.2, again=again)
    done = server.do()
    assert done["features"] == INSTALLED
    assert server.node.engine.boot == 2 + again
    # Nothing is under way any more: the next role finds a node that stays up.
    time.sleep(0.6)
    assert server.node.engine.boot == 2 + again
    assert not server.do()["changed"]


def test_a_node_that_is_down_when_time_is_up_is_not_taken_for_one_that_is_back(tmp_path: Path) -> None:
    server = Host(tmp_path, restart_seconds=100)
    server.node.engine.faults.add(kind="restart", off_seconds=0.2, again=1)
    assert "was not back after 3 s" in str(failure(server, reboot_timeout=3))


def test_a_feature_that_windows_takes_back_at_the_boot_is_told(server: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def undone() -> None:
        if server.node.engine.boot == 2:
            server.set_state("features", lambda state: state.update({"Hyper-V": "available"}))

    monkeypatch.setattr(server, "_reconnect", undone)
    text = str(failure(server))
    assert "Windows was restarted, and is not as it should be" in text
    assert "feature Hyper-V is available" in text
    assert "CBS.log" in text


def test_an_earlier_change_of_components_is_completed_first(server: Host) -> None:
    server.set_state("features", lambda state: state.update({"Hyper-V-Tools": "install_pending"}))
    shown = server.do(check_mode=True)
    done = server.do()
    assert done["steps"] == shown["steps"]
    assert (done["steps"][0], done["steps"][-1]) == (LABEL, LABEL)
    assert server.node.engine.boot == 3
    server.set_state(
        "features", lambda state: state.update({"Hyper-V-Tools": "install_pending", "Containers": "available"})
    )
    assert "an earlier change of Windows' components" in " ".join(str(failure(server, reboot="never")).split())


def test_features_without_their_files_say_what_to_name_and_all_else_is_taken_back(server: Host) -> None:
    server.set_state("features", lambda state: state.update({"Containers": "removed"}))
    before = server.everything()
    text = " ".join(str(failure(server)).split())
    assert "Windows could not be configured, and everything is as it was before" in text
    assert "install features" in text
    assert "-Source" in text
    assert server.everything() == before
    assert server.node.leftovers == []
    assert server.do(feature_source="D:\\sources\\sxs")["features"] == INSTALLED


@pytest.mark.parametrize(
    "fault",
    [
        {"op": "registry.write", "code": "denied"},
        {"op": "folder.ensure", "code": "io"},
        {"op": "firewall.write", "code": "io"},
        {"op": "defender.exclude", "code": "denied"},
        {"op": "power.write", "code": "missing"},
        {"op": "feature.install", "code": "no_space"},
    ],
    ids=lambda fault: str(fault["op"]),
)
def test_a_step_that_fails_takes_all_others_back_and_the_rerun_heals(server: Host, fault: dict[str, str]) -> None:
    before = server.everything()
    server.node.engine.faults.add(kind="operation", **fault)
    error = failure(server)
    assert error.result == {"rolled_back": True}
    assert "step" in error.facts
    assert server.everything() == before
    assert not server.node.file("C:\\etc").exists()
    assert server.node.leftovers == []
    assert server.do()["features"] == INSTALLED


def test_a_restart_that_windows_refuses_is_told_and_the_rerun_restarts(server: Host) -> None:
    server.node.engine.faults.add(kind="operation", op="system.restart", code="denied")
    text = str(failure(server))
    assert "everything else is done, but Windows refuses to restart" in text
    done = server.do()
    assert done["steps"] == [LABEL]
    assert done["features"] == INSTALLED


def test_interrupted_at_every_step_and_run_again(tmp_path: Path) -> None:
    def made(name: str) -> Host:
        # Features are settled by the boot after the interruption, whatever became of the run.
        server = Host(tmp_path / name)
        server.set_state("features", lambda state: state.update(INSTALLED))
        return server

    whole = made("whole")
    whole.do()
    wanted = whole.everything()
    for step in range(1, len(whole.node.engine.steps.labels) + 1):
        server = made(str(step))
        server.node.engine.faults.add(kind="power", step=step, off_seconds=0)
        with pytest.raises((TaskError, PowerLost)):
            server.do()
        assert server.node.engine.boot == 2
        server.do()
        assert server.everything() == wanted, step
        assert server.node.leftovers == [], step
        assert not server.do()["changed"], step


def _break(server: Host, request_number: int, when: str) -> None:
    """Have the connection break once, before a request arrives or after it was carried out."""
    run = server.node.engine.execute
    broken: list[bool] = []

    def breaking(line: str, stdin: bytes) -> Any:
        if server.node.requests != request_number or broken:
            return run(line, stdin)
        broken.append(True)
        if when == "after":
            run(line, stdin)
        raise ConnectionBrokeError("the connection was reset")

    server.node.engine.execute = breaking  # type: ignore[method-assign]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("request_number", [1, 2], ids=["read", "apply"])
def test_a_connection_that_breaks_is_told_and_the_rerun_heals(server: Host, request_number: int, when: str) -> None:
    _break(server, request_number, when)
    error = failure(server)
    assert "the connection was reset" in str(error)
    assert "run again" in error.facts["do"]
    assert server.do()["features"] == INSTALLED
    assert not server.do()["changed"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_that_breaks_at_the_restart_is_a_node_that_is_down(server: Host, when: str) -> None:
    """Whether Windows has heard of it shows by the time since its boot: it is told again where it has not."""
    _break(server, 3, when)
    assert (server.do()["features"], server.node.engine.boot) == (INSTALLED, 2)
    assert not server.do()["changed"]


def test_suffixes_are_taken_away_by_an_empty_list_and_left_alone_by_none(server: Host) -> None:
    server.do(dns_suffixes=["example.com"])
    assert not server.do()["changed"]
    key = "SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters"
    assert server.do(dns_suffixes=[])["steps"] == [f"set HKLM\\{key}\\SearchList"]
    assert server.state("registry")[key]["SearchList"]["value"] == ""
    assert not server.do(dns_suffixes=[])["changed"]
    server.set_state("registry", lambda state: state[key].pop("SearchList"))
    assert not server.do(dns_suffixes=[])["changed"]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["why"])
def test_arguments_of_which_nothing_can_be_made_are_refused_together(server: Host, case: dict[str, Any]) -> None:
    text = " ".join(str(failure(server, **case["arguments"])).split())
    for words in case["says"]:
        assert words in text
    assert server.node.requests == 0


def test_what_refuses_a_node_is_told_at_once_and_nothing_is_touched(tmp_path: Path) -> None:
    server = Host(tmp_path, memory="2Gi", processors=1, nested=False)
    server.claims = {"win2025-0": "other-0"}
    before, asked = server.everything(), server.node.requests
    text = " ".join(str(failure(server, host="ltsc2022", min_memory_mb=6144)).split())
    for check in ("[build]", "[memory]", "[processors]", "[virtualization]", "[name]"):
        assert check in text
    assert server.node.requests == asked + 1
    assert server.everything() == before


def test_what_is_accepted_is_a_warning(tmp_path: Path) -> None:
    server = Host(tmp_path, memory="2Gi")
    done = server.do(accept=["memory"])
    assert any("[memory]" in text for text in done["warnings"])
    assert done["features"] == INSTALLED


def test_process_isolation_needs_no_virtualization(tmp_path: Path) -> None:
    server = Host(tmp_path, nested=False)
    assert server.do(features=["Containers"])["features"] == {"Containers": "installed"}
    assert server.state("features")["Hyper-V"] == "available"


def test_a_server_without_defender_is_prepared_all_the_same(server: Host) -> None:
    server.set_state("defender", lambda state: state.update(present=False))
    assert not any("Defender" in step for step in server.do()["steps"])


def test_what_a_person_set_stays(server: Host) -> None:
    own = {
        "display_name": "WinRM for us",
        "enabled": True,
        "direction": "inbound",
        "action": "allow",
        "protocol": "tcp",
        "local_ports": ["5986"],
    }
    server.set_state("firewall", lambda state: state.update(own=own))
    server.set_state("defender", lambda state: state.update(processes=["C:\\own.exe"]))
    server.do()
    assert server.state("firewall")["own"] == own
    assert server.state("defender")["processes"][0] == "C:\\own.exe"


def test_two_pools_ask_the_same_of_their_nodes() -> None:
    """The read of one task serves whoever asks with the defaults: pools differ in what they install only."""
    asked = [read_operations(validated("windows_host", {"features": names})) for names in (["Containers"], HYPERV)]
    assert asked[0] == asked[1]


@pytest.mark.parametrize("features", [{}, INSTALLED], ids=["bare", "features only"])
def test_a_full_disk_refuses_a_server_that_holds_no_images(tmp_path: Path, features: dict[str, str]) -> None:
    server = Host(tmp_path, free="0")
    server.set_state("features", lambda state: state.update(features))
    text = " ".join(str(failure(server)).split())
    assert "drive C: has 0 GB free, expected 20 GB [disk]: extend the drive" in text
    server.node.engine.services.add(Service("containerd", "containerd", "C:\\containerd.exe"))
    assert any("[disk]" in text for text in server.do(check_mode=True)["warnings"])
