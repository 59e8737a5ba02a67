"""A whole job on a real PowerShell: windows_host reads, changes, and finds nothing to do when it reads again.

The Windows stand-in has a registry, folders with access lists and a service manager; what Windows Server has besides is
played by stubs. It cannot restart, so the restart is left to somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.node.support import cases
from tests.node.support.standin import Node, StandInBench

from lockstep.ansible.arguments import accepted
from lockstep.ansible.spec import argument_spec
from lockstep.ansible.windows_host.configure import Surroundings, prepare
from lockstep.node.session import Session

MODULE = Path(__file__).parents[2] / "library" / "windows_host.py"
KEY = "HKLM\\SOFTWARE\\LockstepTest"
GIVEN: dict[str, Any] = {
    "features": ["Containers", "Hyper-V-PowerShell"],
    "reboot": "report",
    "dns_suffixes": ["svc.cluster.local"],
    # Wine keeps no access list that is another than Linux' permissions can say.
    "folders": [{"path": "C:\\windows-host\\k"}, {"path": "C:\\windows-host\\var\\lib"}],
    "path_entries": ["C:\\windows-host\\k"],
    "firewall_rules": [
        {"name": "windows-host-kubelet", "ports": ["10250"]},
        {"name": "windows-host-vxlan", "protocol": "udp", "ports": ["4789", "8472-8473"]},
    ],
    "defender_paths": ["C:\\windows-host"],
    "registry": [
        {"key": KEY, "name": "number", "value": 7},
        {"key": KEY, "name": "list", "kind": "multi_string", "value": ["a", "b"]},
    ],
    # What Wine tells of the machine is not what is looked at here.
    "accept": ["edition", "memory", "processors", "disk", "virtualization", "winrm", "name", "clock"],
}

pytestmark = [pytest.mark.windows, pytest.mark.slow]


@pytest.fixture
def prepared(node: Node) -> Iterator[Node]:
    for path in ("etc", "k", "var\\lib", "var", ""):
        place = node.place(f"C:\\windows-host\\{path}")
        if place.is_dir():
            place.rmdir()
    node.execute("reg", "delete", KEY, "/f")
    # Containers and Hyper-V-PowerShell are available, no rules, no exclusions, the balanced power scheme.
    with StandInBench(node).set_up(cases.load("feature-install")):
        yield node


def do(node: Node, *, check_mode: bool = False) -> dict[str, Any]:
    arguments = accepted("windows_host", argument_spec(MODULE), GIVEN)
    around = Surroundings(lambda: None, lambda _: None)
    return prepare(Session(node.run), arguments, around, check_mode=check_mode)


def test_what_check_mode_shows_is_done_once(prepared: Node) -> None:
    shown = do(prepared, check_mode=True)
    done = do(prepared)
    assert done["steps"] == shown["steps"]
    assert done["diff"] == shown["diff"]
    assert done["features"] == {"Containers": "install_pending", "Hyper-V-PowerShell": "installed"}
    assert done["restart_reasons"] == ["feature Containers"]
    again = do(prepared)
    assert (again["changed"], again["diff"]) == (False, [])
    assert again["restart_needed"]
