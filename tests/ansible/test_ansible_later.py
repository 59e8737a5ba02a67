"""What a later task would refuse is told before the first change; what is not sure to come does not count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ansible.site import ROOT, Site

from lockstep.ansible.later import REFUSALS
from lockstep.ansible.node_info.ahead import MODULES
from lockstep.sim import NodeSpec, SimulatedNodes

PROVISION = ROOT / "playbooks" / "provision.yml"
ONE = ("--limit", "win2025-0")

CHANGE = {"name": "Change something", "containerd_config": {"version": "2.3.4", "log_level": "debug"}}
WRONG: dict[str, Any] = {"name": "Too late", "kubelet_config": {"version": "1.36.1", "flags": {"no-such-flag": "1"}}}
FLAG = "flags.no-such-flag: kubelet 1.36 has no --no-such-flag; leave the flag out"
REFUSED = "this task changed nothing, because a later one would be refused"


def test_every_module_that_configures_a_node_is_judged() -> None:
    assert REFUSALS.keys() == MODULES.keys()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with SimulatedNodes(tmp_path / "nodes", [NodeSpec("win2025-0", "ltsc2025", "2.3.4", "1.36.1")]) as nodes:
        yield Site(tmp_path, nodes)


def config(site: Site) -> bytes | None:
    path = site.nodes.engine("win2025-0").folder / "C/Program Files/containerd/config.toml"
    return path.read_bytes() if path.exists() else None


@pytest.mark.slow
def test_a_bare_server_stays_as_it_is_where_a_role_has_wrong_variables(tmp_path: Path) -> None:
    server = NodeSpec("win2025-0", "ltsc2025", "2.3.4", "1.36.1", prepared="nothing")
    with SimulatedNodes(tmp_path / "nodes", [server]) as nodes:
        site = Site(tmp_path, nodes)
        wrong = '{"kubelet_flags": {"no-such-flag": "1"}, "containerd_log_level": "loud", "artifacts_keep": -1}'
        output = site.play(PROVISION, *ONE, "-e", wrong, status=2)
        assert "TASK [artifacts" not in output
        told = " ".join(output.split())
        assert REFUSED in told
        names = (
            "artifacts : Put the artifacts in place",
            "containerd : Configure containerd",
            "kubelet : Make kubelet",
        )
        for name in names:
            assert name in told
        for problem in ("keep: -1", "log_level", FLAG):
            assert problem in told
        assert nodes.engine("win2025-0").boot == 1
        assert not (nodes.engine("win2025-0").folder / "C" / "k").exists()
        # A role that does not run is not judged.
        wrong = '{"kubelet_flags": {"no-such-flag": "1"}, "artifacts_keep": -1}'
        assert site.changed(site.play(PROVISION, *ONE, "--tags", "windows_host", "-e", wrong)) == {"win2025-0": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "tasks",
    [
        [CHANGE, WRONG],
        [CHANGE, {"debug": {"msg": "{{ inventory_hostname }}"}}, {"block": [WRONG], "always": [{"meta": "noop"}]}],
        [CHANGE, {**WRONG, "kubelet_config": {**WRONG["kubelet_config"], "bootstrap_kubeconfig": "{{ lookup('x') }}"}}],
    ],
    ids=["next", "in a block", "beside a secret"],
)
def test_what_is_sure_to_be_refused_is_told_first(tasks: list[dict[str, Any]], site: Site) -> None:
    before = config(site)
    output = " ".join(site.play(tasks, *ONE, status=2).split())
    assert REFUSED in output
    assert f"Too late, which comes later in this play: kubelet cannot be configured like this: {FLAG}" in output
    assert "TASK [Too late]" not in output
    assert config(site) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "status"),
    [
        ([CHANGE, {**WRONG, "when": "inventory_hostname == 'other'"}], 0),
        ([CHANGE, {"block": [WRONG], "when": "inventory_hostname == 'other'"}], 0),
        ([CHANGE, {**WRONG, "loop": []}], 0),
        ([CHANGE, {**WRONG, "run_once": True, "delegate_to": "win2025-0"}], 2),
        ([CHANGE, {**WRONG, "no_log": True}], 2),
        ([CHANGE, {**WRONG, "ignore_errors": True}], 0),
        ([CHANGE, {"block": [WRONG], "rescue": [{"meta": "noop"}]}], 0),
        ([CHANGE, {**WRONG, "tags": ["never"]}], 0),
        ([WRONG | {"ignore_errors": True}, CHANGE], 0),
        ([CHANGE, {"set_fact": {"version": "1"}}, WRONG], 2),
        ([CHANGE, {**WRONG, "kubelet_config": {**WRONG["kubelet_config"], "path": "{{ not_yet }}"}}], 2),
    ],
    ids=["when", "block", "loop", "run_once", "no_log", "ignored", "rescued", "tag", "before", "set_fact", "unknown"],
)
def test_what_may_come_otherwise_waits_for_its_turn(tasks: list[dict[str, Any]], status: int, site: Site) -> None:
    output = site.play(tasks, *ONE, status=status)
    assert REFUSED not in " ".join(output.split())
    assert b"debug" in (config(site) or b"")
