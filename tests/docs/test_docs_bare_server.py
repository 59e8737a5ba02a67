"""The guide from a bare server to a healthy node, followed word by word on simulated servers."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from lockstep.sim import NodeSpec, SimulatedNodes

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "bare-server.md").read_text(encoding="utf-8")
CHAPTERS = dict(re.findall(r"^## (?:\d+\. )?(.+?)\n(.*?)(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL))
FIRST_RUN, NOTHING_TO_DO = 60, 6
"""Requests a node, with Basic authentication; a first run may take so many, one with nothing to do takes one read."""

pytestmark = pytest.mark.slow


def blocks(chapter: str, language: str = "") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", CHAPTERS[chapter], re.MULTILINE | re.DOTALL)


class Follower:
    """Somebody who has the guide, a folder, and bare servers on other ports than the guide's."""

    def __init__(self, folder: Path, nodes: SimulatedNodes) -> None:
        self.folder = folder
        self.nodes = nodes
        self.ports = {"15985": str(nodes.port("win2022-0")), "15986": str(nodes.port("win2025-0"))}

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.here(text))

    def here(self, text: str) -> str:
        for port, own in self.ports.items():
            text = text.replace(port, own)
        return text

    def do(self, line: str, *more: str, status: int = 0) -> str:
        """What a command of the guide prints, to its screen."""
        program, *arguments = shlex.split(self.here(line).removeprefix("$ "))
        done = subprocess.run(
            [Path(sys.executable).with_name(program), *arguments, *more],
            capture_output=True, text=True, check=False, cwd=self.folder,
            env={name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")},
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def requests(self) -> list[int]:
        counted = [int(stats["requests"]) for stats in self.nodes.stats().values()]
        self.nodes.reset_stats()
        return counted


def command(chapter: str, beginning: str) -> str:
    """The line of a chapter that begins so."""
    lines = [line for block in blocks(chapter) for line in block.splitlines()]
    return next(line for line in lines if line.removeprefix("$ ").startswith(beginning))


def test_the_guide_leads_from_a_bare_server_to_a_healthy_node(tmp_path: Path) -> None:
    specs = [NodeSpec("win2022-0", "20348", prepared="nothing"), NodeSpec("win2025-0", "26100", prepared="nothing")]
    with SimulatedNodes(tmp_path / "nodes", specs) as nodes:
        follower = Follower(tmp_path, nodes)
        hosts, connection = blocks("Rehearse without Windows", "yaml")
        described = blocks("Describe them", "yaml")[1]
        follower.write("site/hosts.yml", hosts)
        # Basic, because messages are counted here; the guide's NTLM takes three more for each connection.
        follower.write(
            "site/group_vars/windows.yml",
            connection.replace("ntlm", "basic") + described[described.index("lockstep_fleet:") :],
        )
        assert "0 errors" in follower.do(command("Describe them", "lockstep check"))
        assert "win2025-0" not in follower.do(command("Describe them", "lockstep show"))
        shown = follower.do(command("Look at the servers", "lockstep node show"), status=1)
        assert "Windows: feature Containers is available, planned is installed (all of them)" in shown
        follower.requests()

        follower.do(command("See what would be done", "ansible-playbook"))
        assert follower.requests() == [NOTHING_TO_DO] * 2
        assert "7 of them new" in follower.do(
            command("See what would be done", "lockstep artifacts").replace("windows/artifacts", "artifacts")
        )
        pinned = tmp_path / "site" / "group_vars" / "artifacts.yml"
        follower.write(
            "site/group_vars/windows.yml", (tmp_path / "site/group_vars/windows.yml").read_text() + pinned.read_text()
        )

        follower.do(command("Do it", "ansible-playbook -i site lockstep.windows.provision --limit"))
        follower.do("ansible-playbook -i site lockstep.windows.provision")
        assert max(follower.requests()) <= FIRST_RUN + NOTHING_TO_DO
        done = follower.do(command("See that it is done", "lockstep node show"))
        assert [line.split()[-1] for line in done.splitlines()] == ["differs", "no", "no"]
        follower.requests()
        again = follower.do(command("See that it is done", "ansible-playbook"))
        assert set(re.findall(r"changed=(\d+)", again)) == {"0"}
        assert follower.requests() == [NOTHING_TO_DO] * 2

        [join] = [text for text in blocks("Join the cluster", "yaml") if "bootstrap_kubeconfig" in text]
        follower.write(
            "site/group_vars/all.yml",
            join.replace("TOKEN", "abcdef.0123456789abcdef").replace("SERVER", "https://api:6443"),
        )
        follower.write("ca.crt", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
        follower.do(re.findall(r"`(ansible-playbook [^`]+--tags kubelet)`", CHAPTERS["Join the cluster"])[0])
        assert {node["metadata"]["name"] for node in nodes.cluster.list()["items"]} == {"win2022-0", "win2025-0"}
        assert "3 classes" not in follower.do(command("The RuntimeClasses", "lockstep render"))


def test_what_the_guide_shows_as_yaml_is_yaml() -> None:
    for chapter in CHAPTERS:
        for text in blocks(chapter, "yaml"):
            assert yaml.safe_load(text)
