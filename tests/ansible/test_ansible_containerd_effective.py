"""What an imported file overrides, on simulated nodes: noticed after a change, and when there is nothing to do."""

from __future__ import annotations

import pytest
from tests.ansible.nodes import MakeNode, Node

from lockstep.ansible.errors import TaskError

CONFIG = r"C:\Program Files\containerd\config.toml"
DROP_IN = r"C:\Program Files\containerd\conf.d\gpu.toml"
TABLE = "plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runhcs-wcow-hypervisor"
SMALL = f"version = 3\n[{TABLE}.options]\nVmMemorySizeInMb = 512\n"


def put(node: Node, text: str, imports: str = r"C:\Program Files\containerd\conf.d\*.toml") -> None:
    node.file(DROP_IN).parent.mkdir(exist_ok=True)
    node.file(DROP_IN).write_text(text)
    node.file(CONFIG).write_text(f"version = 3\nimports = ['{imports}']\n")


def test_a_change_that_does_not_take_effect_fails_the_task_and_so_does_the_next_run(node: Node) -> None:
    put(node, SMALL)
    with pytest.raises(TaskError, match="has not in effect what is planned") as raised:
        node.planned("containerd_config")
    text = " ".join(str(raised.value).split())
    assert "handler runhcs-wcow-hypervisor: VmMemorySizeInMb is 512, planned is 2048" in text
    assert r"a file that C:\Program Files\containerd\conf.d\*.toml names" in text
    assert raised.value.result == {"changed": True}
    assert node.requests == 3
    for check_mode in (True, False):
        with pytest.raises(TaskError, match="has not in effect") as raised:
            node.planned("containerd_config", check_mode=check_mode)
        assert raised.value.result == {"changed": False}
    node.file(DROP_IN).write_text("version = 3\n")
    assert not node.planned("containerd_config")["changed"]


def test_a_file_that_is_imported_by_its_name_is_named(node: Node) -> None:
    put(node, SMALL, DROP_IN)
    with pytest.raises(TaskError) as raised:
        node.planned("containerd_config")
    assert f"file      {DROP_IN}" in str(raised.value)


def test_it_only_warns_where_that_is_wanted(node: Node) -> None:
    put(node, SMALL)
    for changed in (True, False):
        result = node.planned("containerd_config", overrides="warn")
        assert result["changed"] is changed
        [warning] = result["warnings"]
        assert "VmMemorySizeInMb is 512, planned is 2048" in warning


def test_a_drop_in_that_says_nothing_of_the_plan_is_none_of_the_task_s_business(node: Node) -> None:
    put(node, f"version = 3\n[{TABLE}]\nbase_runtime_spec = 'C:\\spec.json'\n")
    assert node.planned("containerd_config")["warnings"] == []
    assert not node.planned("containerd_config")["changed"]


def test_a_node_without_imports_is_not_asked_again(node: Node) -> None:
    node.planned("containerd_config")
    assert node.requests == 2


def test_on_containerd_1_an_import_replaces_the_whole_section(make_node: MakeNode, fleet: dict[str, object]) -> None:
    node = make_node(containerd="1.7.28", kubernetes="1.34.1")
    node.file(DROP_IN).parent.mkdir(exist_ok=True)
    table = "plugins.'io.containerd.grpc.v1.cri'"
    node.file(DROP_IN).write_text(f"version = 2\n[{table}]\nsandbox_image = 'mine:1'\n")
    node.file(CONFIG).write_text(f"version = 2\nimports = ['{DROP_IN}']\n")
    with pytest.raises(TaskError) as raised:
        node.planned("containerd_config", fleet=fleet | {"containerd": "1.7.28", "kubernetes": "1.34.1"})
    text = str(raised.value)
    assert "containerd refuses the new configuration" in text or "pause image" in text


def test_files_on_which_containerd_would_not_start_again_are_told_while_it_still_runs(node: Node) -> None:
    put(node, "version = 3\n")
    node.planned("containerd_config")
    node.file(DROP_IN).write_text("version = 3\n[plugins\n")
    with pytest.raises(TaskError, match="would not start again") as raised:
        node.planned("containerd_config")
    assert "it said" in str(raised.value)


def test_info_asks_crictl_at_the_pipe_that_containerd_listens_on(node: Node) -> None:
    node.file(CONFIG).write_text("version = 3\n[grpc]\naddress = '\\\\.\\pipe\\other'\n")
    before = node.requests
    node.do("containerd_config_info")
    assert node.requests == before + 2
    node.file(CONFIG).write_text("version = 3\n")
    node.do("containerd_config_info")
    assert node.requests == before + 3


def test_info_says_that_the_service_loads_another_file(node: Node) -> None:
    [warning] = node.do("containerd_config_info", path=r"D:\containerd\config.toml")["warnings"]
    assert f"does not load D:\\containerd\\config.toml, but {CONFIG}" in warning
    assert node.do("containerd_config_info")["warnings"] == []
