"""When windows_host restarts Windows, how it waits, and what becomes of a restart that goes wrong."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from tests.ansible.bare_servers import HYPERV, INSTALLED, Host, failure

from lockstep.ansible.node import ConnectionBrokeError
from lockstep.ansible.windows_host.restart import LABEL
from lockstep.sim.services import Service

pytestmark = pytest.mark.usefixtures("impatient")


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


def test_a_restart_that_windows_refuses_is_told_and_the_rerun_restarts(server: Host) -> None:
    server.node.engine.faults.add(kind="operation", op="system.restart", code="denied")
    text = str(failure(server))
    assert "everything else is done, but Windows refuses to restart" in text
    done = server.do()
    assert done["steps"] == [LABEL]
    assert done["features"] == INSTALLED


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
