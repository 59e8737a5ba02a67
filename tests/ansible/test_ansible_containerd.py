"""containerd_config on simulated nodes: what it does, how often it asks, and that check mode tells it beforehand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lockstep.ansible.errors import TaskError
from lockstep.sim.engine import PowerLost

if TYPE_CHECKING:
    from tests.ansible.nodes import MakeNode, Node

CONFIG = r"C:\Program Files\containerd\config.toml"
OWN = """\
# Ours. Ask Kim before you change the registry.
version = {version}
root = 'D:\\containerd'   # the fast disk

[plugins.'{plugin}'.registry]
  config_path = 'C:\\certs.d'
"""
REGISTRY = """\
[plugins.'io.containerd.cri.v1.images'.registry.configs.'r.example'.auth]
  password = 'hunter2'
  identitytoken = "tok\\"en"
"""
CRI = {2: "io.containerd.grpc.v1.cri", 3: "io.containerd.cri.v1.images", 4: "io.containerd.cri.v1.images"}
# containerd release, a Kubernetes that goes with it, version of the file that is there.
RELEASES = [
    ("1.7.28", "1.34.1", 2),
    ("2.0.6", "1.34.1", 2),
    ("2.1.5", "1.35.0", 3),
    ("2.2.7", "1.36.1", 3),
    ("2.3.4", "1.36.1", 3),
    ("2.3.4", "1.36.1", 4),
]
releases = pytest.mark.parametrize(("containerd", "kubernetes", "version"), RELEASES)


def own_text(version: int) -> str:
    return OWN.format(version=version, plugin=CRI[version])


def write(node: Node, text: str, path: str = CONFIG) -> None:
    node.file(path).write_bytes(text.encode())


def has_what_was_planned(node: Node) -> bool:
    """By the running containerd's own memory, and the agent's journal."""
    memory = node.engine.machine.memory("containerd")
    if memory is None or memory["cri_error"] is not None:
        return False
    options = memory["handlers"]["runhcs-wcow-hypervisor"]["options"]
    return (options["VmMemorySizeInMb"], options["SandboxIsolation"]) == (2048, 1) and not node.leftovers


@releases
def test_a_run_does_what_check_mode_showed_and_the_next_one_nothing(
    make_node: MakeNode, fleet: dict[str, Any], containerd: str, kubernetes: str, version: int
) -> None:
    node = make_node(containerd=containerd, kubernetes=kubernetes)
    before = own_text(version)
    write(node, before)
    fleet = fleet | {"containerd": containerd, "kubernetes": kubernetes}

    shown = node.planned("containerd_config", fleet=fleet, check_mode=True)
    assert node.file(CONFIG).read_text() == before
    done = node.planned("containerd_config", fleet=fleet)
    assert done == shown
    [diff] = done["diff"]
    assert diff["before"] == before
    assert diff["after"].encode() == node.file(CONFIG).read_bytes()
    assert has_what_was_planned(node)
    for line in before.splitlines():
        assert line in node.file(CONFIG).read_text().splitlines()

    again = node.planned("containerd_config", fleet=fleet)
    assert (again["changed"], again["steps"], again["diff"]) == (False, [], [])


def test_nothing_to_do_is_one_read_and_a_change_one_apply_more(node: Node) -> None:
    node.planned("containerd_config")
    assert node.requests == 2
    node.planned("containerd_config")
    assert node.requests == 3
    node.planned("containerd_config", check_mode=True)
    assert node.requests == 4


def test_a_stopped_service_is_started_on_a_file_that_is_right(node: Node) -> None:
    node.planned("containerd_config")
    node.engine.services.stop("containerd")
    result = node.planned("containerd_config")
    assert result["changed"]
    assert result["diff"][0]["before"] == result["diff"][0]["after"]
    assert has_what_was_planned(node)


def test_without_crictl_containerd_itself_is_asked(node: Node) -> None:
    node.file(r"C:\Program Files\containerd\crictl.exe").unlink()
    result = node.planned("containerd_config")
    assert result["steps"][-1] == "have containerd answer ctr"
    assert has_what_was_planned(node)


def test_absent_takes_away_what_present_wrote(node: Node) -> None:
    before = own_text(3)
    write(node, before)
    node.planned("containerd_config")
    shown = node.planned("containerd_config", state="absent", check_mode=True)
    assert node.planned("containerd_config", state="absent") == shown
    assert shown["handlers"] == []
    for line in before.splitlines():
        assert line in node.file(CONFIG).read_text().splitlines()
    assert not node.planned("containerd_config", state="absent")["changed"]


def test_absent_on_a_node_without_a_file_does_nothing(node: Node) -> None:
    assert not node.planned("containerd_config", state="absent")["changed"]
    assert not node.file(CONFIG).exists()


def test_absent_does_not_start_a_service_that_is_stopped(node: Node) -> None:
    node.planned("containerd_config")
    node.engine.services.stop("containerd")
    result = node.planned("containerd_config", state="absent")
    assert (result["changed"], result["restarted"], result["handlers"]) == (True, False, [])
    assert node.engine.machine.memory("containerd") is None
    assert not node.planned("containerd_config", state="absent")["changed"]


def test_exclusive_handlers_removes_the_others(node: Node) -> None:
    header = "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.mine]"
    write(node, f"version = 3\n{header}\nruntime_type = 'io.containerd.runhcs.v1'\n")
    assert "mine" in node.planned("containerd_config")["handlers"]
    assert "mine" not in node.planned("containerd_config", exclusive_handlers=True)["handlers"]


def handler(name: str, runtime_type: str) -> str:
    header = f"[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.{name}]"
    return f"{header}\nruntime_type = '{runtime_type}'\n"


def test_handlers_that_are_not_planned_are_told_but_for_those_that_are_not_lockstep_s_to_plan(
    node: Node, fleet: dict[str, Any]
) -> None:
    shim, other = "io.containerd.runhcs.v1", "io.containerd.other.v1"
    own = handler("hv-big", shim), handler("runhcs-wcow-hypervisor", shim), handler("foreign", other)
    write(node, "version = 3\n" + "".join(own))
    smaller = fleet | {"runtime_classes": {"windows-2025": {"isolation": "process", "guest": "ltsc2025"}}}
    [warning] = node.planned("containerd_config", fleet=smaller)["warnings"]
    assert "handler hv-big is on the node, but not planned: exclusive_handlers: true (in the role, " in warning
    assert node.planned("containerd_config", fleet=smaller)["warnings"] == [warning]
    assert node.planned("containerd_config", fleet=smaller, exclusive_handlers=True)["warnings"] == []
    assert node.planned("containerd_config", fleet=smaller)["warnings"] == []


@pytest.mark.parametrize(("containerd", "kubernetes", "kept"), [("1.7.28", "1.34.1", True), ("2.3.4", "1.36.1", False)])
def test_a_byte_order_mark_goes_with_a_warning_where_containerd_would_stop_at_it(
    make_node: MakeNode,
    fleet: dict[str, Any],
    containerd: str,
    kubernetes: str,
    kept: bool,  # noqa: FBT001
) -> None:
    node = make_node(containerd=containerd, kubernetes=kubernetes)
    write(node, "\ufeffversion = 2\n")
    fleet = fleet | {"containerd": containerd, "kubernetes": kubernetes}
    result = node.planned("containerd_config", fleet=fleet)
    assert node.file(CONFIG).read_bytes().startswith(b"\xef\xbb\xbf") is kept
    assert any("byte order mark is taken off" in warning for warning in result["warnings"]) is not kept
    assert not node.planned("containerd_config", fleet=fleet)["warnings"]


@pytest.mark.parametrize("containerd", ["1.7.28", "2.3.4"])
def test_a_handler_of_a_person_s_whose_name_needs_quotes_stays(
    make_node: MakeNode, fleet: dict[str, Any], containerd: str
) -> None:
    node = make_node(containerd=containerd, kubernetes="1.34.1")
    version, plugin = (2, CRI[2]) if containerd < "2" else (3, "io.containerd.cri.v1.runtime")
    table = f"[plugins.'{plugin}'.containerd.runtimes.'vendor.x']\nruntime_type = 'io.containerd.vendor.v1'\n"
    write(node, f"version = {version}\n{table}")
    result = node.planned("containerd_config", fleet=fleet | {"containerd": containerd, "kubernetes": "1.34.1"})
    assert "vendor.x" in result["handlers"]
    assert has_what_was_planned(node)


@pytest.mark.parametrize("flag", [r"--config D:\c.toml", r"-config D:\c.toml", r"-c=D:\c.toml", r'"-config=D:\c.toml"'])
def test_a_service_that_loads_another_file_is_left_alone(node: Node, flag: str) -> None:
    program = r'"C:\Program Files\containerd\containerd.exe"'
    node.engine.services.configure("containerd", f"{program} {flag} --run-service")
    with pytest.raises(TaskError, match=r"does not load"):
        node.planned("containerd_config")


def test_backup_keeps_the_former_file(node: Node) -> None:
    write(node, own_text(3))
    result = node.planned("containerd_config", backup=True)
    [backup] = result["backups"]
    assert node.file(backup).read_text() == own_text(3)


def test_secrets_are_masked_in_the_diff_and_stay_in_the_file(node: Node) -> None:
    own = f"{own_text(3)}{REGISTRY}"
    write(node, own)
    result = node.planned("containerd_config")
    assert "hunter2" not in json.dumps(result)
    assert "tok" not in result["diff"][0]["after"].replace("identitytoken", "")
    assert REGISTRY in node.file(CONFIG).read_text()
    told = node.do("containerd_config_info")
    assert "hunter2" not in json.dumps(told)


def test_info_tells_file_effect_and_service(node: Node) -> None:
    fresh = node.do("containerd_config_info", check_mode=True)
    assert (fresh["exists"], fresh["version"], fresh["service"]["state"]) == (False, "2.3.4", "running")
    assert "VmMemorySizeInMb" not in fresh["effective"]["handlers"]["runhcs-wcow-hypervisor"]["options"]
    node.planned("containerd_config")
    told = node.do("containerd_config_info")
    assert told["effective"]["handlers"]["runhcs-wcow-hypervisor"]["options"]["VmMemorySizeInMb"] == 2048
    assert told["configured"]["pause_image"] == told["effective"]["pause_image"] == "registry.k8s.io/pause:3.10.2"
    assert told["loaded_handlers"] == ["runhcs-wcow-hypervisor", "runhcs-wcow-process"]
    assert not told["changed"]


def test_info_says_why_containerd_refuses_a_file(node: Node) -> None:
    write(node, "version = 3\n[plugins\n")
    told = node.do("containerd_config_info")
    assert "containerd:" in told["config_error"]
    assert "effective" not in told


def test_power_lost_between_any_two_steps_is_made_good_by_the_next_run(make_node: MakeNode) -> None:
    before = own_text(3)
    whole = make_node("whole")
    write(whole, before)
    whole.planned("containerd_config")
    right = whole.file(CONFIG).read_bytes()
    steps = len(whole.engine.steps.labels)
    assert steps > 10
    for step in range(1, steps + 1):
        node = make_node(f"cut-{step}")
        write(node, before)
        node.engine.faults.add(kind="power", step=step)
        with pytest.raises(PowerLost):
            node.planned("containerd_config")
        node.engine.power_on()
        node.planned("containerd_config")
        assert node.file(CONFIG).read_bytes() == right, step
        assert has_what_was_planned(node), step
        assert not node.planned("containerd_config")["changed"], step


def test_somebody_elses_change_while_the_task_runs_is_left_alone_and_merged_by_the_next_run(node: Node) -> None:
    write(node, own_text(3))

    def edit(request: int) -> None:
        if request == 2:
            write(node, own_text(3) + "# theirs\n")

    node.before_request = edit
    with pytest.raises(TaskError, match="somebody else changed") as raised:
        node.planned("containerd_config")
    assert raised.value.result == {"rolled_back": True}
    assert node.file(CONFIG).read_text() == own_text(3) + "# theirs\n"
    node.planned("containerd_config")
    assert "# theirs" in node.file(CONFIG).read_text()
    assert has_what_was_planned(node)
