"""`lockstep node show` as a user starts it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.sim import NodeSpec, SimulatedNodes

ROOT = Path(__file__).resolve().parents[2]
NODES = [NodeSpec("win2022-0", "20348"), NodeSpec("win2025-0", "26100")]

pytestmark = pytest.mark.slow


class Site:
    """An inventory of two simulated nodes, in a folder without an ansible.cfg."""

    def __init__(self, folder: Path, nodes: SimulatedNodes) -> None:
        self.folder = folder
        self.nodes = nodes
        self.inventory = folder / "inventory"
        demo = ROOT / "inventories" / "demo"
        shutil.copytree(demo / "group_vars", self.inventory / "group_vars")
        self.hosts: dict[str, Any] = yaml.safe_load((demo / "hosts.yml").read_text())
        for spec in NODES:
            group = self.hosts["windows"]["children"][spec.name.partition("-")[0]]
            group["hosts"][spec.name]["ansible_port"] = nodes.port(spec.name)
        self.write()

    def write(self) -> None:
        (self.inventory / "hosts.yml").write_text(yaml.safe_dump(self.hosts))

    def show(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [sys.executable, "-m", "lockstep", "node", "show", *map(str, arguments)],
            capture_output=True, text=True, timeout=120, check=False, cwd=self.folder,
            env={key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")},
        )  # fmt: skip
        assert "Traceback" not in result.stderr
        assert max(map(len, result.stdout.splitlines()), default=0) <= 80 or "{" in result.stdout
        return result


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with SimulatedNodes(folder / "nodes", NODES) as nodes:
        yield Site(folder, nodes)


def test_all_nodes_are_a_table_of_what_differs_from_the_plan(site: Site) -> None:
    site.nodes.reset_stats()
    result = site.show("-i", site.inventory)
    assert (result.returncode, result.stderr) == (1, "")
    assert [line.split()[:3] for line in result.stdout.splitlines()[:3]] == [
        ["Node", "pool", "Windows"],
        ["win2022-0", "win2022", "20348.1"],
        ["win2025-0", "win2025", "26100.1"],
    ]
    assert "kubelet: registerWithTaints is not set, planned is os=windows:NoSchedule" in result.stdout
    assert "kubelet: service kubelet is stopped, planned is running (all of them)" in result.stdout
    assert {stats["requests"] for stats in site.nodes.stats().values()} == {6}
    assert sorted(path.name for path in site.folder.iterdir()) == ["inventory", "nodes"]


@pytest.mark.parametrize("named", ["win2025-0", "win2025"])
def test_one_node_or_one_group_of_one_is_shown_in_full(site: Site, named: str) -> None:
    result = site.show("-i", site.inventory, named)
    assert result.stdout.startswith("win2025-0  Windows Server 2025 Datacenter, 10.0.26100.1  pool win2025\n")
    assert "Differs from the plan of pool win2025" in result.stdout


def test_a_node_that_is_as_planned_ends_with_0(site: Site) -> None:
    play = site.folder / "play.yml"
    roles = ["lockstep.windows.containerd", "lockstep.windows.kubelet"]
    play.write_text(yaml.safe_dump([{"hosts": "win2022", "gather_facts": False, "roles": roles}]))
    done = subprocess.run(
        [sys.executable, "-m", "ansible", "playbook", "-i", str(site.inventory), str(play)],
        capture_output=True, text=True, check=False, cwd=site.folder,
    )  # fmt: skip
    play.unlink()
    assert done.returncode == 0, done.stdout + done.stderr
    result = site.show("-i", site.inventory, "win2022-0")
    assert "As the plan of pool win2022 says." in result.stdout
    assert "To look at" not in result.stdout
    assert result.returncode == 0


def test_a_variable_of_the_inventory_goes_before_the_plan(site: Site) -> None:
    """The node was made as planned by the test before."""
    variables = site.inventory / "host_vars" / "win2022-0.yml"
    variables.parent.mkdir()
    labels = "{{ kubelet_pool.kubelet.node_labels | combine({'rack': rack}) }}"
    variables.write_text(yaml.safe_dump({"kubelet_node_labels": labels, "rack": "a7"}))
    try:
        result = site.show("-i", site.inventory, "win2022-0")
    finally:
        shutil.rmtree(variables.parent)
    assert "kubelet        label rack is not set, planned is a7" in result.stdout
    assert "label lockstep" not in result.stdout
    assert "Variables of the host go before the plan: kubelet_node_labels." in result.stdout


@pytest.mark.parametrize(("name", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_data_has_every_fact(site: Site, name: str, read: Any) -> None:
    [node] = read(site.show("-i", site.inventory, "win2025-0", "--format", name).stdout)
    assert (node["host"], node["pool"]) == ("win2025-0", "win2025")
    assert node["node"]["versions"]["containerd"] == "2.3.4"
    assert {"about", "text"} == set(node["differences"][0])
    assert {"about": "kubelet", "text": "service kubelet is stopped, planned is running"} in node["differences"]


def test_a_node_that_cannot_be_reached_is_told_beside_the_others(site: Site) -> None:
    hosts = site.hosts["windows"]["children"]["win2022"]["hosts"]
    hosts["dead-0"] = {"ansible_port": 1}
    site.write()
    try:
        some, none = site.show("-i", site.inventory), site.show("-i", site.inventory, "dead-0", "--format", "json")
    finally:
        del hosts["dead-0"]
        site.write()
    assert some.returncode == 1
    assert "Could not be read\n  dead-0: " in some.stdout
    assert "win2022-0  win2022" in some.stdout
    assert none.returncode == 2
    assert "refused" in json.loads(none.stdout)[0]["error"]


def test_what_was_kept_is_shown_without_asking_a_node(site: Site, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ansible", "playbook", "lockstep.windows.observe", "-i", str(site.inventory)]
    folder = json.dumps({"lockstep_observed": str(tmp_path)})
    subprocess.run([*command, "-e", folder], cwd=site.folder, capture_output=True, check=True)
    site.nodes.reset_stats()
    plain, compared = site.show(tmp_path), site.show("-i", site.inventory, tmp_path / "win2025-0.json")
    assert "pool" not in plain.stdout
    assert "Differs from the plan of pool win2025" in compared.stdout
    assert {stats["requests"] for stats in site.nodes.stats().values()} == {0}


def test_a_description_that_cannot_be_is_told_and_nodes_are_shown_all_the_same(site: Site, tmp_path: Path) -> None:
    shutil.copytree(site.inventory, tmp_path / "wrong")
    variables = tmp_path / "wrong" / "group_vars" / "windows.yml"
    variables.write_text(variables.read_text().replace("host: ltsc2022", "host: ltcs2022"))
    result = site.show("-i", tmp_path / "wrong", "win2025-0")
    assert "did you mean 'ltsc2022'" in result.stderr
    assert "The nodes are shown without a plan to compare them with." in result.stderr
    assert result.stdout.startswith("win2025-0  Windows Server 2025 Datacenter, 10.0.26100.1\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name an inventory with -i, or what playbooks/observe.yml kept"),
        (("-i", "nowhere"), "nowhere does not exist"),
        (("-i", "inventory", "nohost"), "no host of inventory matches 'nohost'; there are\n  win2022: win2022-0"),
        (("-i", "inventory", "win2025-5"), "no host of inventory matches 'win2025-5'; did you mean 'win2025-0'?"),
        (("inventory",), "there is no .json file in inventory"),
        (("inventory", "win2025-0"), "win2025-0 is neither a folder nor a .json file"),
        (("none.json",), "none.json cannot be read: no such file or directory"),
    ],
)
def test_unusable_arguments_end_with_2(site: Site, arguments: tuple[str, ...], said: str) -> None:
    result = site.show(*arguments)
    assert result.returncode == 2
    assert said in result.stderr
