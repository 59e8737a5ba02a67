"""windows_host on simulated bare servers: what it does, what it refuses, what a failure does to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.ansible.bare_servers import HYPERV, INSTALLED, Host, failure
from tests.ansible.nodes import validated

from lockstep.ansible.errors import TaskError
from lockstep.ansible.windows_host.configure import read_operations
from lockstep.ansible.windows_host.restart import LABEL
from lockstep.sim.engine import PowerLost
from lockstep.sim.services import Service

REFUSED = yaml.safe_load((Path(__file__).parent / "cases" / "windows-host-refused.yaml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.usefixtures("impatient")


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
