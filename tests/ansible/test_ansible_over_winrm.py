"""The whole way, as a user goes it: ansible-playbook, WinRM, a simulated node."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from tests.ansible.site import NODES, ROOT, Site
from winrm.protocol import Protocol

from lockstep.ansible.containerd.configure import configure
from lockstep.ansible.fleet import pool_plan
from lockstep.ansible.spec import documentation
from lockstep.node.session import Completed, Session
from lockstep.sim import DEFAULT_PASSWORD, DEFAULT_USER, NodeSpec, SimulatedNodes
from lockstep.sim.mirror import download
from lockstep.verify.kept import read_kept

PROVISION = ROOT / "playbooks" / "provision.yml"
CONFIGURATION = ("--tags", "containerd,kubelet")
CONFIG = "C/Program Files/containerd/config.toml"
NOTHING_TO_DO, CHANGE = 6, 10
"""Requests that a task may take, with Basic authentication."""

pytestmark = pytest.mark.slow


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with SimulatedNodes(tmp_path / "nodes", NODES) as nodes:
        yield Site(tmp_path, nodes)


def test_provision_does_what_check_mode_showed_and_the_second_run_nothing(site: Site) -> None:
    shown = site.play(PROVISION, *CONFIGURATION, "--check", "--diff", "--forks", "1")
    assert site.requests() == dict.fromkeys(site.nodes.names, NOTHING_TO_DO)
    assert not site.nodes.cluster.list()["items"]
    done = site.play(PROVISION, *CONFIGURATION, "--diff", "--forks", "1")
    assert done == shown
    assert site.changed(done) == {"win2022-0": 2, "win2025-0": 2}
    # One read for both roles; containerd's change begins with it, kubelet's reads again what that may have changed.
    assert site.requests() == dict.fromkeys(site.nodes.names, NOTHING_TO_DO + NOTHING_TO_DO + CHANGE)
    again = site.play(PROVISION, *CONFIGURATION, "--diff")
    assert site.changed(again) == {"win2022-0": 0, "win2025-0": 0}
    assert site.requests() == dict.fromkeys(site.nodes.names, NOTHING_TO_DO)
    labels = {node["metadata"]["name"]: node["metadata"]["labels"] for node in site.nodes.cluster.list()["items"]}
    assert {name: each["lockstep.windows/pool"] for name, each in labels.items()} == {
        "win2022-0": "win2022",
        "win2025-0": "win2025",
    }


def test_one_pool_alone(site: Site) -> None:
    output = site.play(PROVISION, *CONFIGURATION, "--check", "--diff", "--limit", "win2025")
    assert site.changed(output) == {"win2025-0": 2}
    assert "+VmMemorySizeInMb = 2048" in output
    assert site.requests()["win2022-0"] == 0


def test_a_node_of_another_windows_build_is_refused_before_anything_is_changed(site: Site, tmp_path: Path) -> None:
    fleet = yaml.safe_load((ROOT / "inventories" / "demo" / "group_vars" / "windows.yml").read_text())["lockstep_fleet"]
    fleet["pools"] = {"win2022": {"host": "ltsc2025"}}
    fleet["runtime_classes"] = {"windows-2025": {"isolation": "process", "pools": ["win2022"]}}
    (tmp_path / "swapped.yml").write_text(yaml.safe_dump({"lockstep_fleet": fleet}))
    output = site.play(PROVISION, *CONFIGURATION, "--limit", "win2022", "-e", f"@{tmp_path / 'swapped.yml'}", status=2)
    assert "this node is Windows Server 2022 (10.0.20348), but its pool describes host" in output
    # Once more, because somebody might have changed it meanwhile.
    assert site.requests()["win2022-0"] == 2 * NOTHING_TO_DO


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("{kubernetes: latest}", "  kubernetes: "),
        ("{}", "  a fleet lacks 'pools'"),
        ("null", "lockstep_fleet cannot be:"),
    ],
)
def test_a_description_that_cannot_be_is_told_once_and_no_node_is_asked(site: Site, wrong: str, says: str) -> None:
    output = site.play(PROVISION, "-e", f"{{lockstep_fleet: {wrong}}}", status=2)
    # Ansible itself shows the text of a task that failed twice: as an error, and as the task's result.
    assert output.count("lockstep_fleet cannot be:") == 2
    assert output.count("run: lockstep check -i <inventory>") == 2
    assert says in output
    assert "Origin: <unknown>" not in output
    assert sum(site.requests().values()) == 0


def test_hosts_without_a_pool_are_named_before_any_node_is_asked(site: Site, tmp_path: Path) -> None:
    (tmp_path / "stray.yml").write_text("windows: {hosts: {stray-0: {}, stray-1: {}}}\n")
    output = site.play(PROVISION, "-i", str(tmp_path / "stray.yml"), status=2)
    assert output.count("stray-0 is in no pool") == output.count("stray-1 is in no pool") == 2
    assert sum(site.requests().values()) == 0


def test_a_role_by_itself_names_the_host_without_a_pool(site: Site, tmp_path: Path) -> None:
    (tmp_path / "stray.yml").write_text("windows: {hosts: {stray-0: {}}}\n")
    task: list[dict[str, Any]] = [{"ansible.builtin.include_role": {"name": "kubelet"}}]
    output = site.play(task, "-i", str(tmp_path / "stray.yml"), "--limit", "stray-0", status=2)
    assert "stray-0 is in no pool: put it into the inventory group" in output


def test_render_says_where_and_asks_no_node(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "manifests"
    output = site.play(ROOT / "playbooks" / "render.yml", "-e", f"lockstep_manifests={folder}")
    assert f"4 files in {folder}: 4 written, 0 removed" in " ".join(output.split())
    assert sum(site.changed(output).values()) == 1
    subprocess.run(
        [
            Path(sys.executable).with_name("lockstep"),
            "render",
            "-i",
            ROOT / "inventories" / "demo",
            "-o",
            folder,
            "--check",
        ],
        check=True,
    )
    assert sum(site.requests().values()) == 0


def test_observe_keeps_what_is_in_effect_and_reports_no_change(site: Site, tmp_path: Path) -> None:
    folder = tmp_path / "what is observed"
    output = site.play(ROOT / "playbooks" / "observe.yml", "-e", json.dumps({"lockstep_observed": str(folder)}))
    assert site.changed(output) == dict.fromkeys(site.nodes.names, 0)
    assert site.requests() == dict.fromkeys(site.nodes.names, NOTHING_TO_DO)
    assert sorted(path.name for path in folder.iterdir()) == [f"{name}.json" for name in sorted(site.nodes.names)]
    for kept in read_kept([folder]):
        assert kept.node is not None
        assert kept.node["errors"] == {}
        assert "runhcs-wcow-process" in kept.node["containerd"]["handlers"]


def test_observe_reads_the_file_that_the_role_was_told_of(site: Site, tmp_path: Path) -> None:
    other = site.nodes.engine("win2022-0").folder / "C" / "other"
    other.mkdir()
    plugin = "plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.of-the-other-file"
    (other / "config.toml").write_text(f"version = 3\n[{plugin}]\nruntime_type = 'io.containerd.runhcs.v1'\n")
    own = json.dumps({"containerd_path": "C:\\other\\config.toml"})
    site.play(ROOT / "playbooks" / "observe.yml", "--limit", "win2022-0", "-e", own)
    [kept] = read_kept([tmp_path / "build" / "observed"])
    assert kept.node is not None
    assert "of-the-other-file" in kept.node["containerd"]["handlers"]


def test_observe_keeps_why_containerd_has_nothing_in_effect_and_that_there_is_none(site: Site, tmp_path: Path) -> None:
    (site.nodes.engine("win2022-0").folder / CONFIG).write_text("version = 3\n[plugins\n")
    observe = ROOT / "playbooks" / "observe.yml"
    site.play(observe, "--limit", "win2022-0")
    site.play(observe, "--limit", "win2025-0", "-e", json.dumps({"containerd_service": "another"}))
    refused, absent = read_kept([tmp_path / "build" / "observed"])
    assert refused.node is not None
    assert absent.node is not None
    assert "TOML" in refused.node["containerd"]["error"]
    assert not absent.node["services"]["containerd"]["exists"]
    assert "handlers" not in absent.node["containerd"]


def test_observe_keeps_a_node_that_cannot_be_reached(site: Site, tmp_path: Path) -> None:
    site.play(ROOT / "playbooks" / "observe.yml", "--limit", "win2022-0", "-e", "ansible_port=1", status=4)
    [kept] = read_kept([tmp_path / "build" / "observed"])
    assert (kept.host, kept.node) == ("win2022-0", None)
    assert "refused" in kept.error
    assert "win2022" in kept.groups


def examples() -> list[dict[str, Any]]:
    """Every example of every module, named after it; kubelet's last, because it needs containerd."""
    found = []
    for module in sorted((ROOT / "library").glob("*.py"), key=lambda path: ("kubelet" in path.stem, path.stem)):
        tasks = documentation(module, "EXAMPLES")
        found += [task | {"name": f"{module.stem}: {task['name']}"} for task in tasks]
    return found


def from_the_mirror(tasks: list[dict[str, Any]], site: Site, folder: Path) -> None:
    """Have tasks of node_artifacts get releases from the simulator, with the SHA-256 that these have there."""
    (folder / "files").mkdir()
    for arguments in (task["lockstep.windows.node_artifacts"] for task in tasks if "node_artifacts:" in task["name"]):
        arguments["mirror"] = site.nodes.mirror("win2025-0")
        for artifact in arguments["artifacts"]:
            if "src" in artifact:
                (folder / "files" / artifact["src"]).write_bytes(b"a provider")
                artifact["sha256"] = hashlib.sha256(b"a provider").hexdigest()
            elif "sha256" in artifact:
                content = download(artifact["name"], artifact["version"])
                artifact["sha256"] = hashlib.sha256(content).hexdigest()


def test_every_example_runs(site: Site, tmp_path: Path) -> None:
    tasks = examples()
    from_the_mirror(tasks, site, tmp_path)
    # A label that is added to a node which is registered already has to be set through the API as well.
    output = site.play(tasks, warns=True)
    for task in tasks:
        assert f"TASK [{task['name']}]" in output
    assert set(site.changed(output)) == set(site.nodes.names)
    assert (tmp_path / "build" / "runtimeclasses" / "kustomization.yaml").is_file()


def test_results_have_the_documented_keys(site: Site, tmp_path: Path) -> None:
    """What a task returns is documented, and what is documented as always returned is returned."""
    modules = {module.stem: documentation(module, "RETURN") for module in (ROOT / "library").glob("*.py")}
    plan = "(lockstep_fleet | lockstep_pool(group_names))"
    arguments: dict[str, dict[str, Any]] = {
        "containerd_config": {"version": "2.3.4", "handlers": f"{{{{ {plan}.containerd.handlers }}}}"},
        "kubelet_config": {"version": "1.36.1", "configuration": f"{{{{ {plan}.kubelet.configuration }}}}"},
        "node_artifacts": {
            "artifacts": [{"name": "kubelet", "version": "1.36.1"}],
            "mirror": site.nodes.mirror("win2025-0"),
        },
        "runtimeclass_manifests": {"fleet": "{{ lockstep_fleet }}", "dest": str(tmp_path / "manifests")},
    }
    tasks: list[dict[str, Any]] = []
    for module in sorted(modules):
        copy = {"content": f"{{{{ {module}_result | to_json }}}}", "dest": str(tmp_path / f"{module}.json")}
        tasks += [
            {module: arguments.get(module, {}), "register": f"{module}_result"},
            {"ansible.builtin.copy": copy, "delegate_to": "localhost"},
        ]
    site.play(tasks, "--limit", "win2025-0")
    for module, documented in modules.items():
        result = json.loads((tmp_path / f"{module}.json").read_text()).keys() - {
            "changed",
            "failed",
            "warnings",
            "diff",
        }
        assert result <= documented.keys(), module
        assert {key for key, value in documented.items() if value["returned"] == "success"} <= result, module


def test_a_failure_is_one_message_without_a_traceback(site: Site) -> None:
    site.nodes.engine("win2025-0").faults.add(kind="service", name="containerd", does="dies", after_seconds=1.2)
    output = site.play(PROVISION, *CONFIGURATION, "--limit", "win2025-0", "-vvv", status=2)
    assert "containerd did not come up with the new configuration, so the old one is back" in output
    assert "step      3 of 4, restart service containerd: stopped again after 1.2 s" in output
    assert "rolled_back: true" in output


def test_lockstep_missing_is_said_with_the_way_to_install_it(site: Site, tmp_path: Path) -> None:
    hidden = tmp_path / "sitecustomize.py"
    hidden.write_text("import sys; sys.modules['lockstep'] = None\n")
    os.environ["PYTHONPATH"] = str(tmp_path)
    try:
        output = site.play([{"containerd_config_info": {}}], status=1)
    finally:
        del os.environ["PYTHONPATH"]
    assert re.search(r"containerd_config_info needs lockstep in the Python that runs\s+Ansible", output)
    assert "-m pip install lockstep-windows" in output.replace("\n", " ")


@pytest.mark.parametrize(
    ("task", "arguments"),
    [({"become": True}, []), ({}, ["-e", "ansible_become=true"]), ({}, ["--become"])],
    ids=["task", "variable", "command line"],
)
def test_become_is_refused_with_the_reason(site: Site, task: dict[str, Any], arguments: list[str]) -> None:
    output = site.play([{"containerd_config_info": {}, **task}], "--limit", "win2022-0", *arguments, status=2)
    assert "containerd_config_info does not support become" in output
    assert "ansible_become" in output
    assert site.requests()["win2022-0"] == 0


def test_become_that_is_off_in_the_end_is_no_hindrance(site: Site) -> None:
    task = {"containerd_config_info": {}, "become": True}
    site.play([task], "--limit", "win2022-0", "-e", "ansible_become=false")


@pytest.mark.parametrize(
    ("request_number", "says"),
    [
        (4, "the connection broke while the node was read, so nothing was done"),
        (8, "the connection broke while the change was being made"),
    ],
)
def test_a_dropped_connection_is_one_message_and_the_next_run_completes(
    site: Site, request_number: int, says: str
) -> None:
    provision, one = PROVISION, ("--tags", "containerd", "--limit", "win2025-0")
    site.nodes.faults("win2025-0").add(kind="drop", request=request_number, when="after")
    output = site.play(provision, *one, status=2)
    assert says in output
    assert "RemoteDisconnected" in output
    site.play(provision, *one)
    assert site.changed(site.play(provision, *one)) == {"win2025-0": 0}


def test_a_node_that_was_never_reached_is_unreachable(site: Site) -> None:
    output = site.play([{"kubelet_config_info": {}}], "--limit", "win2022-0", "-e", "ansible_port=1", status=4)
    assert "unreachable=1" in output


class WinrmRunner:
    """Carries commands as Ansible's winrm connection does, without starting Ansible for each."""

    def __init__(self, url: str) -> None:
        self._protocol = Protocol(
            url, transport="basic", username=DEFAULT_USER, password=DEFAULT_PASSWORD, server_cert_validation="ignore"
        )

    def __call__(self, command: str, standard_input: bytes) -> Completed:
        shell = self._protocol.open_shell(codepage=65001)
        try:
            started = self._protocol.run_command(shell, command)
            self._protocol.send_command_input(shell, started, standard_input, end=True)
            stdout, stderr, status = self._protocol.get_command_output(shell, started)
            self._protocol.cleanup_command(shell, started)
        finally:
            self._protocol.close_shell(shell)
        return Completed(status, stdout.decode(), stderr.decode())


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_dropped_at_any_request_is_made_good_by_the_next_run(
    tmp_path: Path, fleet: dict[str, Any], arguments: Callable[..., dict[str, Any]], when: str
) -> None:
    own = b"version = 3\n# ours\n"
    task = arguments("containerd_config", pool_plan(fleet, ["win2025"])["containerd"])
    right: bytes | None = None
    # Two commands, six requests each.
    for request in range(1, 13):
        name = f"{when}-{request}"
        with SimulatedNodes(tmp_path, [NodeSpec(name, "ltsc2025", "2.3.4", "1.36.1")]) as nodes:
            config = tmp_path / name / CONFIG
            config.write_bytes(own)
            nodes.faults(name).add(kind="drop", request=request, when=when)
            session = Session(WinrmRunner(nodes.url(name)))
            with pytest.raises(requests.exceptions.RequestException):
                configure(session, task, check_mode=False)
            configure(session, task, check_mode=False)
            assert not configure(session, task, check_mode=False)["changed"], request
            right = right or config.read_bytes()
            assert config.read_bytes() == right
            assert b"# ours" in right
            assert not [path.name for path in (tmp_path / name / "C").rglob("*.lockstep-*")]
