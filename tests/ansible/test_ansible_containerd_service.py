"""containerd's service: made where there is none, taken over where there is one, refused where it is another's."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.ansible.nodes import Node

from lockstep.ansible.command_line import flag_value
from lockstep.ansible.containerd.node import read_operations
from lockstep.ansible.errors import TaskError
from lockstep.sim import NodeSpec
from lockstep.sim.engine import PowerLost
from lockstep.sim.programs import placeholder
from lockstep.sim.services import Service

CONFIG = r"C:\Program Files\containerd\config.toml"
PROGRAM = r"C:\Program Files\containerd\containerd.exe"
LOG = r"C:\var\log\containerd\containerd.log"
OTHER = r"C:\Windows\System32\svchost.exe -k netsvcs"
RECOVERY = {"actions": [{"action": "restart", "delay": 30}], "reset": 3600, "on_non_crash": True}
MakeBare = Callable[..., Node]


@pytest.fixture
def make_bare(tmp_path: Path) -> MakeBare:
    """A function that makes a node whose programs are there, and no service of containerd's."""

    def make(name: str = "bare", **spec: Any) -> Node:
        return Node(tmp_path, NodeSpec(name, prepared="programs", **spec))

    return make


@pytest.fixture
def bare(make_bare: MakeBare) -> Node:
    return make_bare()


def service(node: Node) -> Service:
    found = node.engine.services.get("containerd")
    assert found is not None
    return found


def install_nssm(node: Node) -> None:
    node.file(r"C:\k\nssm.exe").write_bytes(placeholder("nssm.exe", "2.24"))


def manage(node: Node, *, check_mode: bool = False, **other: Any) -> dict[str, Any]:
    return node.planned("containerd_config", check_mode=check_mode, manage_service=True, **other)


def test_a_node_with_programs_alone_gets_service_and_file_in_one_transaction(bare: Node) -> None:
    shown = manage(bare, check_mode=True)
    assert bare.engine.services.get("containerd") is None
    assert not bare.file(CONFIG).exists()
    done = manage(bare)
    assert done == shown
    assert done["steps"] == [
        f"write {CONFIG}",
        "have containerd.exe read the new file",
        r"make folder C:\var\log\containerd",
        "register service containerd",
        "start service containerd",
        "have containerd list its handlers",
    ]
    assert bare.requests == 3
    made = service(bare)
    assert made.state == "running"
    assert made.binary_path == f'"{PROGRAM}" --run-service --config "{CONFIG}" --log-file {LOG}'
    assert (made.display_name, made.start_type) == ("Containerd", "automatic")
    assert bare.file(LOG).exists()
    assert [entry["after_header"] for entry in done["diff"]] == [CONFIG, "service containerd"]
    again = manage(bare)
    assert (again["changed"], again["diff"], again["warnings"]) == (False, [], [])
    assert bare.requests == 4


def test_a_service_that_containerd_registered_itself_is_taken_over_as_it_is(node: Node) -> None:
    node.planned("containerd_config")
    before = service(node).binary_path
    result = manage(node)
    assert (result["changed"], service(node).binary_path) == (False, before)


def test_only_what_differs_is_changed_and_other_flags_stay(node: Node) -> None:
    node.planned("containerd_config")
    line = f'"{PROGRAM}" --run-service --root D:\\containerd --log-level=debug --log-file D:\\own.log'
    node.engine.services.add(replace(service(node), binary_path=line))
    result = manage(node, log_file=LOG, log_level="warn")
    assert service(node).binary_path == (
        f'"{PROGRAM}" --run-service --root D:\\containerd --log-level=warn --log-file {LOG}'
    )
    assert result["restarted"]
    assert not manage(node, log_file=LOG, log_level="warn")["changed"]


def test_what_people_see_changes_without_a_restart(node: Node) -> None:
    node.planned("containerd_config")
    process = service(node).process_id
    told: dict[str, Any] = {
        "display_name": "containerd",
        "description": "Runs pods",
        "start_type": "delayed",
        "recovery": RECOVERY,
    }
    shown = manage(node, check_mode=True, **told)
    result = manage(node, **told)
    assert result == shown
    assert (result["changed"], result["restarted"], result["steps"]) == (True, False, ["change service containerd"])
    assert service(node).process_id == process
    assert not manage(node, **told)["changed"]
    [diff] = result["diff"]
    assert "failure 1      restart after 30 s" in diff["after"]


def test_a_variable_of_its_process_needs_a_restart_and_its_password_is_not_shown(node: Node) -> None:
    node.planned("containerd_config")
    proxy = {"HTTPS_PROXY": "http://kim:hunter2@proxy.example:3128", "NO_PROXY": ".example"}
    result = manage(node, environment=proxy)
    assert result["restarted"]
    assert "hunter2" not in json.dumps(result)
    assert "HTTPS_PROXY=********\n" in result["diff"][0]["after"]
    assert not manage(node, environment=proxy)["changed"]
    gone = manage(node, environment={"HTTPS_PROXY": None})
    assert "hunter2" not in json.dumps(gone)
    assert gone["changed"]
    assert not manage(node, environment={"NO_PROXY": ".example"})["changed"]


def test_a_name_that_is_another_service_s_is_refused_before_anything_is_done(bare: Node) -> None:
    bare.engine.services.add(Service("containerd", "Netsvcs", OTHER))
    for check_mode in (True, False):
        with pytest.raises(TaskError, match="the name containerd is taken by a service") as raised:
            manage(bare, check_mode=check_mode)
    assert "svchost.exe" in str(raised.value)
    assert "do        " in str(raised.value)
    assert not bare.file(CONFIG).exists()


def test_without_the_program_the_task_says_which_role_brings_it_and_check_mode_shows_everything(bare: Node) -> None:
    bare.file(PROGRAM).unlink()
    shown = manage(bare, check_mode=True)
    assert shown["changed"]
    [warning] = shown["warnings"]
    assert f"there is no containerd.exe at {PROGRAM}" in warning
    assert "register service containerd" in shown["steps"]
    with pytest.raises(TaskError, match=r"there is no containerd\.exe") as raised:
        manage(bare)
    assert "run the role artifacts first" in str(raised.value)


def test_check_mode_on_a_server_with_nothing_but_windows_tells_what_a_run_will_do(tmp_path: Path) -> None:
    node = Node(tmp_path, NodeSpec("server", prepared="nothing"))
    whole = Node(tmp_path, NodeSpec("whole", prepared="programs"))
    shown = manage(node, check_mode=True)
    assert (shown["steps"], shown["handlers"]) == (manage(whole)["steps"], manage(whole)["handlers"])
    assert not manage(node, state="absent")["changed"]


def test_another_release_is_an_error_but_in_check_mode_one_that_an_earlier_role_may_mend(bare: Node) -> None:
    with pytest.raises(TaskError, match=r"this node has containerd 2\.3\.4, but 2\.3\.7 is described"):
        manage(bare, version="2.3.7")
    shown = manage(bare, check_mode=True, version="2.3.7")
    assert any("has containerd 2.3.4" in warning for warning in shown["warnings"])


def test_without_managing_the_service_has_to_be_there(bare: Node) -> None:
    with pytest.raises(TaskError, match="has no service containerd") as raised:
        bare.planned("containerd_config")
    assert "manage_service: true" in str(raised.value)


def test_a_service_that_loads_another_file_is_left_alone(node: Node) -> None:
    node.engine.services.add(replace(service(node), binary_path=f'"{PROGRAM}" --run-service --config D:\\c.toml'))
    with pytest.raises(TaskError, match="does not load"):
        manage(node)


def test_a_program_without_its_folder_is_told(node: Node) -> None:
    node.engine.services.add(replace(service(node), binary_path="containerd.exe --run-service"))
    with pytest.raises(TaskError, match=r"runs containerd\.exe, which names no folder"):
        node.planned("containerd_config")
    assert any("names no folder" in text for text in node.do("containerd_config_info")["warnings"])
    manage(node)
    assert service(node).binary_path == f'"{PROGRAM}" --run-service'


def test_a_file_that_containerd_refuses_leaves_no_service_behind(bare: Node) -> None:
    bare.file(CONFIG).write_text("version = 3\nimports = ['C:\\own.toml']\n", encoding="utf-8")
    bare.file(r"C:\own.toml").write_text("[plugins\n", encoding="utf-8")
    with pytest.raises(TaskError, match="containerd refuses the new configuration") as raised:
        manage(bare)
    assert "it said   " in str(raised.value)
    assert bare.engine.services.get("containerd") is None
    assert "imports" in bare.file(CONFIG).read_text(encoding="utf-8")


def test_a_service_that_does_not_come_up_is_gone_again(bare: Node) -> None:
    bare.engine.faults.add(kind="service", name="containerd", does="dies", after_seconds=1.2, exit_code=1)
    with pytest.raises(TaskError, match="did not come up") as raised:
        manage(bare)
    assert "start service containerd: stopped again after 1.2 s" in str(raised.value)
    assert bare.engine.services.get("containerd") is None
    assert not bare.file(CONFIG).exists()
    assert manage(bare)["changed"]
    assert service(bare).state == "running"


def test_a_service_that_does_not_stop_is_told_as_that_with_its_log_and_the_time_that_it_has(node: Node) -> None:
    service(node).deaf = True
    with pytest.raises(TaskError, match="did not stop in time") as raised:
        manage(node)
    told = " ".join(str(raised.value).split())
    assert "restart service containerd: did not stop in time" in told
    log = flag_value(service(node).binary_path, ("--log-file",))
    assert f"look into {log} for what it waits for" in told
    assert "timeout (in the role, containerd_timeout)" in told


def test_a_file_that_something_holds_is_named_and_the_next_run_heals(bare: Node) -> None:
    bare.file(CONFIG).write_text("version = 3\n", encoding="utf-8")
    bare.engine.faults.add(kind="in_use", path=CONFIG, times=None)
    with pytest.raises(TaskError) as raised:
        manage(bare)
    assert "find out which process holds the file open" in str(raised.value)
    assert bare.engine.services.get("containerd") is None
    bare.engine.faults.clear()
    assert manage(bare)["changed"]
    assert service(bare).state == "running"


def test_power_lost_between_any_two_steps_is_made_good_by_the_next_run(make_bare: MakeBare) -> None:
    whole = make_bare("whole")
    manage(whole)
    right, line = whole.file(CONFIG).read_bytes(), service(whole).binary_path
    steps = len(whole.engine.steps.labels)
    assert steps > 10
    for step in range(1, steps + 1):
        node = make_bare(f"cut-{step}")
        node.engine.faults.add(kind="power", step=step)
        with pytest.raises(PowerLost):
            manage(node)
        node.engine.power_on()
        manage(node)
        assert (node.file(CONFIG).read_bytes(), service(node).binary_path) == (right, line), step
        assert service(node).state == "running", step
        assert not node.leftovers, step
        assert not manage(node)["changed"], step


def test_without_nssm_the_task_says_so_before_anything_is_done(bare: Node) -> None:
    with pytest.raises(TaskError, match=r"there is no C:\\k\\nssm\.exe"):
        manage(bare, wrapper="nssm")
    assert bare.engine.services.get("containerd") is None
    [warning] = manage(bare, wrapper="nssm", check_mode=True)["warnings"]
    assert "an earlier role may install it" in warning


def test_behind_nssm_its_output_is_rotated(bare: Node) -> None:
    install_nssm(bare)
    shown = manage(bare, wrapper="nssm", check_mode=True)
    done = manage(bare, wrapper="nssm")
    assert done == shown
    made = service(bare)
    assert (made.binary_path, made.state) == (r"C:\k\nssm.exe", "running")
    registry = json.loads((bare.engine.folder / "registry.json").read_text(encoding="utf-8"))
    [values] = [found for key, found in registry.items() if key.lower().endswith(r"containerd\parameters")]
    assert {name: entry["value"] for name, entry in values.items()} == {
        "Application": PROGRAM,
        "AppParameters": f'--config "{CONFIG}"',
        "AppDirectory": r"C:\Program Files\containerd",
        "AppStdout": LOG,
        "AppStderr": LOG,
        "AppRotateFiles": 1,
        "AppRotateOnline": 1,
        "AppRotateBytes": 100 * 2**20,
    }
    assert not manage(bare, wrapper="nssm")["changed"]
    assert not manage(bare)["changed"]
    assert manage(bare, log_max_size="10Mi")["restarted"]


def test_it_changes_over_from_nssm_and_back(bare: Node) -> None:
    install_nssm(bare)
    manage(bare, wrapper="nssm")
    native = manage(bare, wrapper="none")
    assert len([step for step in native["steps"] if step.startswith("remove ")]) == 8
    parameters = next(entry for entry in native["diff"] if "nssm" in entry["before_header"])
    assert "AppRotateBytes = " in parameters["before"]
    assert parameters["after"] == ""
    assert service(bare).binary_path == f'"{PROGRAM}" --config "{CONFIG}" --run-service --log-file {LOG}'
    assert service(bare).state == "running"
    assert not manage(bare)["changed"]
    # Nothing is left of nssm.
    registry = json.loads((bare.engine.folder / "registry.json").read_text(encoding="utf-8"))
    assert not any(values for key, values in registry.items() if key.lower().endswith(r"containerd\parameters"))
    manage(bare, wrapper="nssm")
    assert service(bare).binary_path == r"C:\k\nssm.exe"
    assert not manage(bare, wrapper="nssm")["changed"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"program": r"C:\k\kubelet.exe"}, "program: expected the full path of containerd.exe"),
        ({"program": "containerd.exe"}, "program: 'containerd.exe' is no full Windows path"),
        ({"log_max_size": "10Mi", "wrapper": "none"}, "containerd itself does not rotate its log file"),
        ({"log_max_size": "big", "wrapper": "nssm"}, "log_max_size: "),
        ({"depends_on": ["Containerd"]}, "depends_on: a service cannot depend on itself"),
        ({"environment": {"A=B": "1"}}, "environment: 'A=B' is no name of a variable"),
        ({"recovery": {"actions": [{"action": "restart", "delay": -1}]}}, "expected a delay of at least 0 seconds"),
        ({"recovery": {"action": "restart"}}, "recovery.action: there is no such argument; did you mean 'actions'?"),
    ],
)
def test_a_service_that_cannot_be_like_this_is_refused_before_the_node_is_asked(
    bare: Node, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(TaskError) as raised:
        manage(bare, **given)
    assert said in " ".join(str(raised.value).split())
    assert bare.requests == 0


def test_the_same_arguments_ask_the_same(arguments: Callable[[str, dict[str, Any]], dict[str, Any]]) -> None:
    given = arguments("containerd_config", {"version": "2.3.4", "manage_service": True, "registries": []})
    assert read_operations(given) == read_operations(given)
    assert len({json.dumps(operation) for operation in read_operations(given)}) == len(read_operations(given))
