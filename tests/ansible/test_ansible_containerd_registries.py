"""Registries of a containerd_config task: their files, who may use them, what is shown, what is restarted."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from tests.ansible.nodes import Node
from tests.containerd.pem import certificate_and_key

from lockstep.ansible.errors import TaskError
from lockstep.windows.access import ADMINISTRATORS
from lockstep.windows.access import same as same_access

ROOT = r"C:\ProgramData\containerd\certs.d"
CONFIG = r"C:\Program Files\containerd\config.toml"
CERTIFICATE, KEY = certificate_and_key()
DOCKER = {
    "name": "docker.io",
    "hosts": [
        {
            "url": "https://mirror.example",
            "capabilities": ["pull", "resolve"],
            "ca": [CERTIFICATE],
            "client": [{"certificate": CERTIFICATE, "key": KEY}],
            "headers": {"Authorization": "Basic aHVudGVyMg=="},
        }
    ],
}
QUAY = {"name": "quay.io:443", "server": "https://mirror.example"}
SECRETS = ("aHVudGVyMg==", KEY.splitlines()[1])


def task(node: Node, *registries: dict[str, Any], check_mode: bool = False, **other: Any) -> dict[str, Any]:
    given = {"registries": list(registries), "prune_registries": True, **other}
    return node.planned("containerd_config", check_mode=check_mode, **given)


def written(node: Node) -> list[str]:
    root = node.file(ROOT)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_files_are_written_as_check_mode_showed_and_no_secret_is_told(node: Node) -> None:
    shown = task(node, DOCKER, check_mode=True)
    assert not node.file(ROOT).exists()
    done = task(node, DOCKER)
    assert done == shown
    assert written(node) == [
        "docker.io/host-1-ca-1.pem",
        "docker.io/host-1-client-1-key.pem",
        "docker.io/host-1-client-1.pem",
        "docker.io/hosts.toml",
        "lockstep.json",
    ]
    restricted = done["steps"].index(f"let administrators only use {ROOT}")
    assert [step for step in done["steps"][:restricted] if ROOT in step] == []
    assert f"config_path = '{ROOT}'" in node.file(CONFIG).read_text()
    assert [secret for secret in SECRETS if secret in json.dumps(done)] == []
    hosts = next(entry for entry in done["diff"] if entry["after_header"].endswith("hosts.toml"))
    assert 'Authorization = "********"' in hosts["after"]
    assert "[host.'https://mirror.example']" in hosts["after"]
    ca = next(entry for entry in done["diff"] if entry["after_header"].endswith("ca-1.pem"))
    digest = hashlib.sha256(node.file(ROOT).joinpath("docker.io/host-1-ca-1.pem").read_bytes()).hexdigest()
    assert ca["after"] == f"1 certificate, SHA-256 {digest}, {len(CERTIFICATE.splitlines())} lines\n"
    again = task(node, DOCKER)
    assert (again["changed"], again["diff"], again["warnings"]) == (False, [], [])


def test_containerd_is_not_restarted_for_what_it_reads_at_every_pull(node: Node) -> None:
    task(node, DOCKER)
    found = node.engine.services.get("containerd")
    assert found is not None
    process = found.process_id
    result = task(node, DOCKER, QUAY)
    assert (result["changed"], result["restarted"]) == (True, False)
    assert "quay.io_443_/hosts.toml" in written(node)
    assert found.process_id == process
    assert [entry["after_header"] for entry in result["diff"]] == [rf"{ROOT}\quay.io_443_\hosts.toml"]


def test_what_is_not_stated_any_more_goes_but_not_what_somebody_changed(node: Node) -> None:
    task(node, DOCKER, QUAY)
    own = node.file(rf"{ROOT}\ghcr.io\hosts.toml")
    own.parent.mkdir()
    own.write_text("server = 'https://ghcr.io'\n")
    shown = task(node, QUAY, check_mode=True)
    result = task(node, QUAY)
    assert result == shown
    assert written(node) == ["ghcr.io/hosts.toml", "lockstep.json", "quay.io_443_/hosts.toml"]
    assert not task(node, QUAY)["changed"]

    changed = node.file(rf"{ROOT}\quay.io_443_\hosts.toml")
    changed.write_text("server = 'https://other.example'\n")
    result = task(node)
    assert "somebody changed it, so it was left alone" in " ".join(result["warnings"])
    assert changed.exists()


def test_without_pruning_files_stay_until_a_run_prunes(node: Node) -> None:
    task(node, DOCKER, QUAY)
    assert not task(node, QUAY, prune_registries=False)["changed"]
    assert "docker.io/hosts.toml" in written(node)
    task(node, QUAY)
    assert "docker.io/hosts.toml" not in written(node)


def test_a_folder_that_is_left_without_hosts_keeps_its_registry_from_the_default_ones(node: Node) -> None:
    default = {"name": "_default", "server": "https://mirror.example"}
    task(node, DOCKER, default)
    [warning] = task(node, default)["warnings"]
    assert rf"remove {ROOT}\docker.io" in warning


def test_absent_takes_away_what_runs_wrote(node: Node) -> None:
    task(node, DOCKER, QUAY)
    result = node.planned("containerd_config", state="absent", registries=[DOCKER])
    assert result["changed"]
    assert written(node) == ["lockstep.json"]
    assert "config_path" not in node.file(CONFIG).read_text()
    assert not node.planned("containerd_config", state="absent", registries=[DOCKER])["changed"]


def test_who_may_use_the_folder_can_be_said_or_left_alone(node: Node) -> None:
    result = task(node, DOCKER, registry_access="")
    assert [step for step in result["steps"] if step.startswith("let ")] == []
    result = task(node, DOCKER, registry_access="D:P(A;OICI;FA;;;BA)")
    assert result["steps"] == [f"let D:P(A;OICI;FA;;;BA) use {ROOT}"]
    with pytest.raises(TaskError, match="registry_access: 'everyone' is no access list"):
        task(node, DOCKER, registry_access="everyone")


def test_registries_are_left_alone_where_nothing_is_said_of_them(node: Node) -> None:
    task(node, DOCKER)
    assert not node.planned("containerd_config")["changed"]
    assert "docker.io/hosts.toml" in written(node)


def test_mirrors_in_the_file_are_told_before_anything_is_done(node: Node) -> None:
    mirrors = "plugins.'io.containerd.cri.v1.images'.registry.mirrors.'docker.io'"
    before = f"version = 3\n[{mirrors}]\nendpoint = ['https://old.example']\n"
    node.file(CONFIG).write_text(before)
    with pytest.raises(TaskError, match="the configuration on the node cannot be changed") as raised:
        task(node, DOCKER)
    assert "line 2" in str(raised.value)
    assert node.file(CONFIG).read_text() == before
    assert not node.file(ROOT).exists()


def test_what_containerd_would_pass_over_is_refused_before_the_node_is_asked(node: Node) -> None:
    with pytest.raises(TaskError, match="the registries cannot be like this") as raised:
        task(node, {"name": "https://docker.io", "hosts": [{"url": "mirror.example", "headers": {"A:": "hunter2"}}]})
    assert str(raised.value).count("registries[0]") == 3
    assert "hunter2" not in str(raised.value)
    assert node.requests == 0


def test_a_containerd_that_does_not_come_up_leaves_no_secret_in_a_rejected_file(node: Node) -> None:
    node.engine.faults.add(kind="service", name="containerd", does="dies", after_seconds=1.2, exit_code=1)
    with pytest.raises(TaskError, match="did not come up"):
        task(node, DOCKER)
    texts = [path.read_text(errors="replace") for path in node.engine.folder.rglob("*") if path.is_file()]
    assert [secret for secret in SECRETS if any(secret in text for text in texts)] == []
    assert task(node, DOCKER)["changed"]


@pytest.mark.parametrize(
    "wrong",
    [{"headers": "Authorization: hunter2"}, {"client": "hunter2"}, {"client": ["hunter2"]}, {"headers": ["hunter2"]}],
)
def test_a_secret_in_the_wrong_form_is_not_repeated(node: Node, wrong: dict[str, Any]) -> None:
    with pytest.raises(TaskError, match="expected a") as raised:
        task(node, {"name": "docker.io", **wrong})
    assert "hunter2" not in str(raised.value)


def test_a_handwritten_file_whose_secrets_cannot_be_masked_is_not_shown(node: Node) -> None:
    own = node.file(rf"{ROOT}\docker.io\hosts.toml")
    own.parent.mkdir(parents=True)
    own.write_text("[[host]]\nheader = {Authorization = 'hunter2'}\n")
    result = task(node, DOCKER, check_mode=True)
    assert "hunter2" not in json.dumps(result)
    own.write_text("not toml, hunter2\n")
    result = task(node, DOCKER)
    assert "hunter2" not in json.dumps(result)
    assert result["changed"]


@pytest.mark.parametrize(
    ("access", "same"),
    [
        (ADMINISTRATORS, True),
        ("D:P(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)", True),
        ("O:BAG:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", True),
        ("D:AI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", False),
        ("D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)", False),
        ("D:", False),
        ("", False),
        (None, False),
    ],
)
def test_access_lists_that_grant_the_same(access: str | None, same: bool) -> None:  # noqa: FBT001
    assert same_access(access, ADMINISTRATORS) is same
