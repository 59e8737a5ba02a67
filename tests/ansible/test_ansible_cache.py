"""What the tasks of a play know of a node from each other, as a user's plays are."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ansible.site import NODES, Site

from lockstep.sim import SimulatedNodes

READ = 6
"""Requests of a task that reads, or makes a change of what is known, with Basic authentication."""
OWN_CONFIG = "version = 3\n# ours\n"

pytestmark = pytest.mark.slow

INFO: dict[str, Any] = {"lockstep_node_info": {}}
ROLE: dict[str, Any] = {"ansible.builtin.import_role": {"name": "kubelet"}}
INCLUDED: dict[str, Any] = {"ansible.builtin.include_role": {"name": "kubelet"}}
CONFIG: dict[str, Any] = {"kubelet_config": {"version": "1.36.1"}}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Two nodes on which kubelet is as it is to be."""
    with SimulatedNodes(tmp_path / "nodes", NODES) as nodes:
        site = Site(tmp_path, nodes)
        site.play([ROLE, {"kubelet_config": {"version": "1.36.1"}}])
        site.requests()
        yield site


def each(requests: int) -> dict[str, int]:
    return {spec.name: requests for spec in NODES}


@pytest.mark.parametrize("strategy", ["linear", "free", "host_pinned"])
@pytest.mark.parametrize("forks", ["1", "5"])
def test_one_read_serves_the_play(site: Site, strategy: str, forks: str) -> None:
    site.play([INFO, ROLE, INCLUDED, CONFIG], "--forks", forks, strategy=strategy)
    assert site.requests() == each(READ)


@pytest.mark.parametrize("serial", [1, "50%"])
def test_one_read_serves_each_batch(site: Site, serial: int | str) -> None:
    site.play([INFO, ROLE, CONFIG], serial=serial)
    assert site.requests() == each(READ)


def test_a_loop_and_a_block_and_handlers_read_once(site: Site) -> None:
    looped = {**CONFIG, "loop": [1, 2, 3], "notify": "again", "changed_when": True}
    handler = {**CONFIG, "listen": "again", "name": "again"}
    site.play([{"block": [INFO, looped], "rescue": [{"ansible.builtin.fail": {}}]}], handlers=[handler])
    assert site.requests() == each(READ)


def test_each_play_reads_anew(site: Site) -> None:
    playbook = site.playbook({"tasks": [INFO, CONFIG]}, {"tasks": [CONFIG, CONFIG]})
    site.play(playbook)
    assert site.requests() == each(2 * READ)


def test_a_task_that_only_reports_always_looks(site: Site) -> None:
    site.play([INFO, INFO])
    assert site.requests() == each(2 * READ)


@pytest.mark.parametrize("value", [False, "no", "{{ 1 == 2 }}"])
def test_a_host_can_do_without(site: Site, value: Any) -> None:
    site.play([INFO, CONFIG], vars={"lockstep_cache": value})
    assert site.requests() == each(2 * READ)


def test_a_delegated_task_is_about_the_node_that_it_is_delegated_to(site: Site) -> None:
    delegated = {**INFO, "delegate_to": "win2025-0", "run_once": True}
    site.play([delegated, CONFIG])
    assert site.requests() == each(READ)


def test_two_names_of_one_node_know_the_same(site: Site, tmp_path: Path) -> None:
    port = site.nodes.port("win2025-0")
    (tmp_path / "alias.yml").write_text(f"windows: {{hosts: {{win2025-0: {{}}, alias: {{ansible_port: {port}}}}}}}\n")
    site.play([INFO, CONFIG], "-i", str(tmp_path / "alias.yml"), "--limit", "win2025-0,alias")
    assert site.requests() == {"win2022-0": 0, "win2025-0": 2 * READ}


def test_after_a_change_the_node_is_read_again(site: Site) -> None:
    change = {"kubelet_config": {"version": "1.36.1", "configuration": {"maxPods": 40}}}
    site.play([INFO, change, CONFIG, CONFIG])
    # The change itself starts from what was read before: a command of its own, no more.
    assert site.requests() == each(3 * READ)


def test_what_somebody_else_changed_meanwhile_is_merged_into(site: Site) -> None:
    """The read is of before the edit, so the write is refused; the task reads anew and merges into the edited file."""
    paths = [
        str(site.nodes.engine(name).folder / "C/Program Files/containerd/config.toml") for name in site.nodes.names
    ]
    handlers = "{{ (lockstep_fleet | lockstep_pool(group_names)).containerd.handlers }}"
    task = {"containerd_config": {"version": "2.3.4", "handlers": handlers}}
    edit = {
        "ansible.builtin.copy": {"content": OWN_CONFIG, "dest": "{{ item }}"},
        "loop": paths,
        "delegate_to": "localhost",
        "run_once": True,
    }
    output = site.play([{**task, "check_mode": True}, edit, task], "--diff")
    assert "FAILED" not in output
    for path in paths:
        assert "# ours" in Path(path).read_text()
        assert "runhcs-wcow-process" in Path(path).read_text()
    again = site.play([task])
    assert site.changed(again) == each(0)


def test_a_task_that_fails_on_what_is_no_longer_so_looks_again(site: Site) -> None:
    """The task finds another release in what was read before; somebody may have brought the right one since."""
    wanted = {"kubelet_config": {"version": "1.35.0"}}
    first = {**wanted, "ignore_errors": True}
    output = site.play([INFO, first, first])
    assert output.count("...ignoring") == 2 * len(NODES)
    # What was read is no base for a failure: it is read again, and nothing is known after it.
    assert site.requests() == each(READ + READ + READ)


def test_what_a_killed_run_left_is_never_used(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "local"
    environment = {"ANSIBLE_LOCAL_TEMP": str(folder)}
    playbook = site.playbook({"tasks": [INFO, {"ansible.builtin.pause": {"seconds": 120}}]})
    said = tmp_path / "said"
    with said.open("wb") as output:
        process = subprocess.Popen(
            [*site.command, playbook], env=site.environment(environment), stdout=output, start_new_session=True
        )
    # When the next task begins, the last request of the one before has ended on every node.
    deadline = time.monotonic() + 60
    while b"TASK [ansible.builtin.pause]" not in said.read_bytes() and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    left = list(folder.glob("*/lockstep/*.json"))
    assert len(left) == len(NODES)
    site.requests()
    site.play([CONFIG], environment=environment)
    assert site.requests() == each(READ)


def test_nothing_is_left_when_a_run_ends(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "local"
    site.play([INFO, CONFIG], environment={"ANSIBLE_LOCAL_TEMP": str(folder)})
    assert list(folder.iterdir()) == []
