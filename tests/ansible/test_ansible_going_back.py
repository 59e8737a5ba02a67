"""Back to an older containerd, which does not read the config.toml that a newer one was given."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.ansible.site import ROOT, Site

from lockstep.sim import NodeSpec, SimulatedNodes

PROVISION = ROOT / "playbooks" / "provision.yml"
FOLDER = "C/Program Files/containerd"
ONE = ("--limit", "win2025-0")
FOREIGN = "[plugins.'io.containerd.image-verifier.v1.bindir']\nbin_dir = 'C:\\verify'\n"

pytestmark = pytest.mark.slow


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    spec = NodeSpec("win2025-0", "ltsc2025", "2.3.4", "1.34.1", prepared="nothing", machine={"restart_seconds": 0.5})
    with SimulatedNodes(tmp_path / "nodes", [spec]) as nodes:
        yield Site(tmp_path, nodes)


def described(containerd: str) -> tuple[str, ...]:
    fleet = yaml.safe_load((ROOT / "inventories" / "demo" / "group_vars" / "windows.yml").read_text())["lockstep_fleet"]
    return (*ONE, "-e", json.dumps({"lockstep_fleet": {**fleet, "kubernetes": "1.34.1", "containerd": containerd}}))


def running(site: Site) -> dict[str, str]:
    services = site.nodes.engine("win2025-0").services
    return {name: found.state for name in ("containerd", "kubelet") if (found := services.get(name)) is not None}


def test_back_from_2_3_to_1_7_is_one_run_and_the_next_one_does_nothing(site: Site) -> None:
    site.play(PROVISION, *described("2.3.4"))
    file = site.nodes.engine("win2025-0").folder / FOLDER / "config.toml"
    newer = file.read_text()
    assert tomllib.loads(newer)["version"] == 3

    output = site.play(PROVISION, *described("1.7.29"), "--diff", warns=True)
    assert "its services stay stopped until the role containerd has rewritten it" in " ".join(output.split())
    assert "-version = 3" in output
    assert running(site) == {"containerd": "running", "kubelet": "running"}
    older = tomllib.loads(file.read_text())
    assert older["version"] == 2
    handlers = older["plugins"]["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]
    assert all("sandboxer" not in handler for handler in handlers.values())
    assert [kept.read_text() for kept in file.parent.glob("config.toml.*.bak")] == [newer]

    again = site.play(PROVISION, *described("1.7.29"), warns=True)
    assert site.changed(again) == {"win2025-0": 0}


def test_what_cannot_be_carried_over_is_told_before_anything_is_stopped(site: Site) -> None:
    site.play(PROVISION, *described("2.3.4"))
    engine = site.nodes.engine("win2025-0")
    file = engine.folder / FOLDER / "config.toml"
    file.write_text(file.read_text() + FOREIGN)
    output = " ".join(site.play(PROVISION, *described("1.7.29"), status=2).split())
    assert "containerd 1.7.29 would not start on this node, so nothing was done" in output
    assert "plugins.'io.containerd.image-verifier.v1.bindir'.bin_dir" in output
    assert running(site) == {"containerd": "running", "kubelet": "running"}
    assert "2.3.4" in (file.parent / "containerd.exe").read_text()
