"""Warnings as a user sees them: Ansible merges those that are alike, so each names its host."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.ansible.site import Site

from lockstep.sim import NodeSpec, SimulatedNodes

pytestmark = pytest.mark.slow


def test_each_host_has_its_own_warning(tmp_path: Path) -> None:
    specs = [NodeSpec(name, "ltsc2022", "2.3.4", "1.36.1") for name in ("win2022-0", "win2025-0")]
    with SimulatedNodes(tmp_path / "nodes", specs) as nodes:
        task = {"windows_host": {"min_memory_mb": 999424, "accept": ["memory"], "features": ["Containers"]}}
        output = Site(tmp_path, nodes).play([task], "--check", warns=True)
    for host in nodes.names:
        assert f"[WARNING]: {host}: the machine has 16 GB of memory, expected 976 GB" in " ".join(output.split())
