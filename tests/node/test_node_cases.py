"""The same cases, on every engine that is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.node.support import cases
from tests.node.support.cases import Case, differences, file_differences
from tests.node.support.emulated import EmulatedBench
from tests.node.support.engines import Bench, ask
from tests.node.support.linux import Host, LinuxBench
from tests.node.support.served import serving
from tests.node.support.standin import Node, StandInBench


def _hold(bench: Bench, case: Case) -> None:
    watched = list(case.services_after)
    with bench.set_up(case), serving(case.served) as url:
        before = bench.services(watched)
        problems = []
        for request, wanted in ((case.request, case.response), *case.then):
            expected = {"contract": 1, "mode": request["mode"], **wanted}
            problems += differences(expected, ask(bench, cases.addressed(request, url)))
        problems += file_differences(case.files_after, bench.files(case))
        now = bench.services(watched)
        for name, service in case.services_after.items():
            expected_service = {key: value for key, value in service.items() if key != "new_process"}
            found = {"state": now[name].state, "binary_path": now[name].binary_path}
            problems += differences(expected_service, found, name)
            if service.get("new_process") and now[name].process_id in (0, before[name].process_id):
                problems.append(f"{name}: is still the process that it was")
    assert not problems, "\n".join([case.title, *problems])


BENCHES = {EmulatedBench.name, LinuxBench.name, StandInBench.name}


@pytest.mark.parametrize("name", cases.all_names())
def test_what_an_engine_cannot_show_has_a_reason(name: str) -> None:
    not_on = cases.load(name).not_on
    assert set(not_on) < BENCHES, "some engine has to show it"
    assert all(len(reason) > len("because") for reason in not_on.values())


@pytest.mark.parametrize("name", cases.names(EmulatedBench.name))
def test_emulated(name: str, tmp_path: Path) -> None:
    _hold(EmulatedBench(tmp_path), cases.load(name))


@pytest.mark.windows
@pytest.mark.parametrize("name", cases.names(LinuxBench.name))
def test_agent_on_linux(name: str, tmp_path: Path, host: Host) -> None:
    _hold(LinuxBench(host, tmp_path), cases.load(name))


@pytest.mark.windows
@pytest.mark.parametrize("name", cases.names(StandInBench.name))
def test_agent_on_the_stand_in(name: str, node: Node) -> None:
    _hold(StandInBench(node), cases.load(name))
