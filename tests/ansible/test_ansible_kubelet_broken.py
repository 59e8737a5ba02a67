"""kubelet's service where something fails or power is lost: told, taken back, made good by the next run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.ansible.kubelets import CONFIG, JOINING, LOG, files, made, memory, parameters, run
from tests.ansible.nodes import Node

from lockstep.ansible.errors import TaskError
from lockstep.sim.engine import PowerLost


def test_a_kubelet_that_refuses_a_flag_leaves_nothing_behind(fresh: Node) -> None:
    before = files(fresh)
    fresh.engine.faults.add(kind="service", name="kubelet", does="exits")
    with pytest.raises(TaskError, match="kubelet did not come up") as raised:
        run(fresh, **JOINING)
    assert raised.value.result == {"rolled_back": True}
    assert fresh.engine.services.get("kubelet") is None
    assert {path for path in files(fresh) if not path.endswith((".rejected", "kubelet.log"))} == set(before)
    assert run(fresh, **JOINING)["joined"]


@pytest.mark.parametrize("wrapper", ["kube-log-runner", "nssm"])
def test_power_lost_between_any_two_steps_of_the_first_run_is_made_good(tmp_path: Path, wrapper: str) -> None:
    whole = made(tmp_path, "whole")
    given: dict[str, Any] = {"wrapper": wrapper, **JOINING}
    first = len(whole.engine.steps.labels)
    right = run(whole, **given)
    steps = len(whole.engine.steps.labels) - first
    assert steps > 10
    for step in range(1, steps + 1):
        node = made(tmp_path, f"cut-{step}")
        node.engine.faults.add(kind="power", step=step)
        with pytest.raises(PowerLost):
            run(node, **given)
        node.engine.power_on()
        result = run(node, **given)
        assert result["command_line"] == right["command_line"], step
        assert node.file(CONFIG).read_bytes() == whole.file(CONFIG).read_bytes(), step
        assert parameters(node) == parameters(whole), step
        assert memory(node)["configuration"]["authentication"]["x509"], step
        assert not node.leftovers, step
        assert not run(node, **given)["changed"], step


@pytest.mark.parametrize(("first", "second"), [("none", "nssm"), ("nssm", "kube-log-runner")])
def test_power_lost_while_the_wrapper_changes_loses_no_flag(tmp_path: Path, first: str, second: str) -> None:
    def begun(name: str) -> Node:
        node = made(tmp_path, name)
        run(node, wrapper=first, flags={"cert-dir": r"D:\pki"})
        return node

    whole = begun("whole")
    before = len(whole.engine.steps.labels)
    run(whole, wrapper=second)
    for step in range(1, len(whole.engine.steps.labels) - before + 1):
        node = begun(f"cut-{step}")
        node.engine.faults.add(kind="power", step=step)
        with pytest.raises(PowerLost):
            run(node, wrapper=second)
        node.engine.power_on()
        run(node, wrapper=second)
        assert memory(node)["flags"]["cert-dir"] == r"D:\pki", step
        assert parameters(node) == parameters(whole), step
        assert not node.leftovers, step
        assert not run(node, wrapper=second)["changed"], step


def test_a_kubelet_whose_containerd_does_not_come_up_says_so(fresh: Node) -> None:
    fresh.engine.services.stop("containerd")
    fresh.engine.faults.add(kind="service", name="containerd", does="exits", times=5)
    with pytest.raises(TaskError, match="kubelet did not start, because it depends on a service that") as raised:
        run(fresh, **JOINING)
    told = raised.value.facts
    assert "it depends on containerd, which is stopped, exit code 1053" in told["it said"]
    assert "find out why service containerd does not run" in told["do"]
    assert not {"log", "file"} & told.keys(), "its own files are not to blame"


def test_what_was_not_there_before_is_not_told_as_put_back(fresh: Node) -> None:
    fresh.engine.faults.add(kind="service", name="kubelet", does="exits")
    with pytest.raises(TaskError, match=r"new configuration, so everything is as it was\sbefore") as raised:
        run(fresh)
    assert raised.value.facts["file"] == f"{CONFIG}.rejected (what was written; there was no such file before)"


def test_a_kubelet_that_does_not_stop_is_told_as_one(fresh: Node) -> None:
    fresh.engine.faults.add(kind="service", name="kubelet", does="deaf")
    run(fresh)
    with pytest.raises(TaskError, match="did not stop in time for kubelet to be configured") as raised:
        run(fresh, node_ip="10.0.0.7")
    told = raised.value.facts
    assert told["step"].endswith("restart service kubelet: did not stop in time")
    assert told["log"] == LOG
    assert f"look into {LOG}" in told["do"]
    assert "timeout (in the role, kubelet_timeout)" in told["do"]
    assert f"{CONFIG} (as it was" not in told.get("file", "")
