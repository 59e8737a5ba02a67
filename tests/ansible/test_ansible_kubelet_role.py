"""What the role kubelet makes of its variables, beyond handing them to the module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ansible.site import NODES, Site

from lockstep.sim import SimulatedNodes

pytestmark = pytest.mark.slow


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with SimulatedNodes(tmp_path / "nodes", NODES) as nodes:
        yield Site(tmp_path, nodes)


def test_own_labels_stand_beside_the_plan_s_and_containerd_may_have_another_name(site: Site) -> None:
    task = {"ansible.builtin.include_role": {"name": "kubelet"}}
    labels = {"example.com/rack": "7", "lockstep.windows/pool": "mine"}
    given = {"containerd_service": "ctrd", "kubelet_extra_node_labels": labels}
    output = site.play([task], "--check", "--diff", "--limit", "win2025-0", vars=given, warns=True)
    assert "not on the node yet: service ctrd" in " ".join(output.split())
    assert "example.com/rack=7" in output
    assert "lockstep.windows/pool=win2025" in output, "RuntimeClasses select it"
    assert "lockstep.windows/pool=mine" not in output
