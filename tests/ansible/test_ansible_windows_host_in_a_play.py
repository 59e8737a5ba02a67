"""windows_host as a play has it: what a user reads of the restart, and of a value that is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ansible.site import ROOT, Site

from lockstep.sim import NodeSpec, SimulatedNodes

PROVISION = ROOT / "playbooks" / "provision.yml"
PREPARE = ("--limit", "win2025-0", "--tags", "windows_host")

pytestmark = pytest.mark.slow


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    machine = {"restart_seconds": 0.5}
    specs = [NodeSpec("win2025-0", "ltsc2025", "2.3.4", "1.36.1", prepared="nothing", machine=machine)]
    with SimulatedNodes(tmp_path / "nodes", specs) as nodes:
        yield Site(tmp_path, nodes)


def test_a_value_of_lockstep_reboot_that_is_none_is_told_in_a_line(site: Site) -> None:
    output = site.play(PROVISION, *PREPARE, "-e", "lockstep_reboot=later", status=2)
    line = "reboot (in the role, lockstep_reboot): 'later' is none of auto, always, report, never"
    assert line in " ".join(output.split())
    assert "argument_spec" not in output


def test_check_mode_tells_of_the_restart(site: Site) -> None:
    assert "Windows is restarted, because of feature Containers" in site.play(PROVISION, *PREPARE, "--check", "--diff")
    failed = site.play(PROVISION, *PREPARE, "--check", "-e", "lockstep_reboot=never", status=2)
    assert "Windows has to be restarted, and lockstep_reboot is never" in " ".join(failed.split())
    left = site.play(PROVISION, *PREPARE, "--check", "-e", "lockstep_reboot=report", warns=True)
    assert "[WARNING]: win2025-0: Windows would wait for a restart" in " ".join(left.split())


def test_a_second_restart_does_not_end_the_play(site: Site) -> None:
    site.nodes.faults("win2025-0").add(kind="restart", off_seconds=4, again=2)
    site.play(PROVISION, "--limit", "win2025-0")
    assert site.nodes.engine("win2025-0").boot == 4
    assert site.changed(site.play(PROVISION, "--limit", "win2025-0")) == {"win2025-0": 0}
