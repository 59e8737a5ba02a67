"""Fixtures of the tests that run modules on simulated nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.ansible.bare_servers import Host
from tests.ansible.kubelets import made
from tests.ansible.nodes import FLEET, MakeNode, Node, validated

from lockstep.ansible.windows_host import restart as windows_host_restart
from lockstep.sim import NodeSpec


@pytest.fixture
def make_node(tmp_path: Path) -> MakeNode:
    def make(
        name: str = "win2025-0",
        build: str = "ltsc2025",
        containerd: str = "2.3.4",
        kubernetes: str = "1.36.1",
        config_toml: str = "none",
        *,
        prepared: str = "services",
    ) -> Node:
        return Node(tmp_path, NodeSpec(name, build, containerd, kubernetes, config_toml, prepared=prepared))

    return make


@pytest.fixture
def arguments() -> Callable[[str, dict[str, Any]], dict[str, Any]]:
    """Arguments of a module, validated and filled up by Ansible as for a real task."""
    return validated


@pytest.fixture
def fleet() -> dict[str, Any]:
    return FLEET


@pytest.fixture
def node(make_node: MakeNode) -> Node:
    return make_node()


@pytest.fixture
def fresh(tmp_path: Path) -> Node:
    """A node with programs, and no kubelet service yet."""
    return made(tmp_path)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have windows_host wait for simulated restarts, which are quick."""
    monkeypatch.setattr(windows_host_restart, "_DELAY_SECONDS", 1)
    monkeypatch.setattr(windows_host_restart, "_PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(windows_host_restart, "_SETTLE_SECONDS", 0.7)


@pytest.fixture
def server(tmp_path: Path) -> Host:
    """A bare server."""
    return Host(tmp_path)
