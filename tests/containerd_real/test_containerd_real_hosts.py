"""Every hosts.toml that lockstep writes, read by the code with which containerd of every series reads it at a pull."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.containerd.test_containerd_registries import CASES, files_of
from tests.containerd_real.programs import FOLDER, RELEASES

from lockstep.catalog.registry_hosts import capabilities, host_keys
from lockstep.catalog.versions import Version

pytestmark = [
    pytest.mark.containerd,
    pytest.mark.skipif(
        not FOLDER,
        reason="LOCKSTEP_CONTAINERD_DIR is not set: build the programs with tests/containerd_real/build.py FOLDER",
    ),
]
DEFAULTS = {"headers": {}, "skip_verify": False, "authorities": False, "certificates": 0}
READABLE = [
    (version, name)
    for version in RELEASES
    for name, case in CASES.items()
    if "reads" in case and Version.parse(version) >= Version.parse(case.get("since", "1.6.0"))
]


def read(version: str, folder: Path, registry: str) -> list[dict[str, Any]]:
    """What a release makes of a folder of registries; it must not have had anything to say."""
    program = Path(FOLDER) / version / "hosts" / "hosts"
    done = subprocess.run([program, folder, registry], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "level=info" not in line]) == (0, [])
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def known(version: str) -> list[str]:
    release = Version.parse(version)
    return [name for name, since in capabilities().items() if since is None or since <= release]


@pytest.mark.parametrize(("version", "name"), READABLE)
def test_containerd_reads_what_was_meant(version: str, name: str, tmp_path: Path) -> None:
    case = CASES[name]
    for file in files_of(case, version):
        path = tmp_path / file.path.replace("\\", "/")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file.content)
    found = read(version, tmp_path, case.get("pull", case["registries"][0]["name"]))
    for host in found:
        host["headers"] = host["headers"] or {}
        host["capabilities"] = sorted(host["capabilities"])
    wanted = [{**DEFAULTS, "capabilities": known(version), **host} for host in case["reads"]]
    assert found == [{**host, "capabilities": sorted(host["capabilities"])} for host in wanted]


@pytest.mark.parametrize("version", RELEASES)
def test_a_file_that_it_cannot_decode_is_one_that_it_passes_over(version: str, tmp_path: Path) -> None:
    """Why everything is checked before it is written."""
    (tmp_path / "quay.io").mkdir()
    (tmp_path / "quay.io" / "hosts.toml").write_text("[host.'https://mirror.example']\ncapabilities = ['pul']\n")
    program = Path(FOLDER) / version / "hosts" / "hosts"
    done = subprocess.run([program, tmp_path, "quay.io"], capture_output=True, text=True, timeout=60, check=False)
    assert [host["url"] for host in json.loads(done.stdout)] == ["https://quay.io/v2"]
    assert re.search(r"failed to decode .*hosts\.toml", done.stderr)


@pytest.mark.parametrize("version", RELEASES)
def test_the_catalogue_has_the_keys_of_the_release(version: str, tmp_path: Path) -> None:
    """By what a release says of a value of the wrong type: of a key that it does not know, nothing."""
    release, program = Version.parse(version), Path(FOLDER) / version / "hosts" / "hosts"
    for key, since in host_keys().items():
        (tmp_path / "quay.io").mkdir(exist_ok=True)
        (tmp_path / "quay.io" / "hosts.toml").write_text(f"[host.'https://mirror.example']\n{key} = [1]\n")
        done = subprocess.run([program, tmp_path, "quay.io"], capture_output=True, text=True, timeout=60, check=False)
        assert ("failed to decode" in done.stderr) is (since is None or since <= release), key
