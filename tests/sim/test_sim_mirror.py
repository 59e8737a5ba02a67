"""The mirror: every release of the catalogue at its project's path, with its published sums, and what may go wrong."""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from lockstep.catalog.artifacts import Artifact, artifact, known_artifacts
from lockstep.sim import NodeSpec, SimulatedNodes, mirror

VERSIONS = {
    "containerd": ("1.7.29", "2.3.4", "2.4.0-beta.0"),
    "cni-plugins": ("1.9.1",),
    "crictl": ("1.36.0",),
    "nssm": ("2.24", "2.24-101-g897c7ad"),
}
RELEASES = [
    artifact(name, version) for name in known_artifacts() for version in VERSIONS.get(name, ("1.30.4", "1.36.1"))
]
CONTAINERD = artifact("containerd", "2.3.4")
PATH = urlsplit(CONTAINERD.url).path


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[SimulatedNodes]:
    with SimulatedNodes(tmp_path, [NodeSpec("win-0", prepared="nothing")]) as running:
        yield running


def content(release: Artifact) -> dict[str, bytes]:
    """Return the files of a download, by their paths in it."""
    found = mirror.find(urlsplit(release.url).path)
    assert found is not None
    if release.format == "file":
        return {release.files[0][0]: found.data}
    if release.format == "zip":
        with zipfile.ZipFile(io.BytesIO(found.data)) as archive:
            return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    with tarfile.open(fileobj=io.BytesIO(found.data), mode="r:gz") as tar:
        return {
            entry.name.removeprefix("./"): file.read() for entry in tar if (file := tar.extractfile(entry)) is not None
        }


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: f"{release.name}-{release.version}")
def test_every_release_holds_its_programs(release: Artifact) -> None:
    files = content(release)
    for inside, outside in release.files:
        assert files[inside] == f"lockstep simulated program: {outside} {release.version}\r\n".encode()


@pytest.mark.parametrize(
    "release", [one for one in RELEASES if one.sums], ids=lambda release: f"{release.name}-{release.version}"
)
def test_every_release_has_its_published_sum(release: Artifact) -> None:
    assert release.sums is not None
    file, sums = mirror.find(urlsplit(release.url).path), mirror.find(urlsplit(release.sums.url).path)
    assert file is not None
    assert sums is not None
    digest = hashlib.sha256(file.data).hexdigest()
    name = release.url.rpartition("/")[2]
    assert sums.data.decode() == (digest if release.sums.form == "digest" else f"{digest}  {name}\n")


def test_the_same_release_is_always_the_same() -> None:
    first = mirror.download("containerd", "2.3.4")
    mirror.download.cache_clear()
    assert mirror.download("containerd", "2.3.4") == first
    assert mirror.download("containerd", "2.3.5") != first


def test_real_programs_are_packed_where_there_are_any(tmp_path: Path) -> None:
    (tmp_path / "containerd-2.3.4").mkdir()
    (tmp_path / "containerd-2.3.4/containerd.exe").write_bytes(b"MZ real")
    with tarfile.open(fileobj=io.BytesIO(mirror.download("containerd", "2.3.4", tmp_path)), mode="r:gz") as tar:
        found = {entry.name: file.read() for entry in tar if (file := tar.extractfile(entry)) is not None}
    assert found["bin/containerd.exe"] == b"MZ real"
    assert found["bin/ctr.exe"].startswith(b"lockstep simulated program: ctr.exe 2.3.4")


def test_what_no_project_publishes_is_not_there() -> None:
    assert mirror.find(PATH.replace("v2.3.4", "v2.3.5")) is None
    assert mirror.find("/containerd") is None
    assert mirror.find(f"/github.com{PATH}") == mirror.find(PATH)
    assert mirror.find(f"/example.org{PATH}") is None


def get(nodes: SimulatedNodes, path: str = PATH, **headers: str) -> bytes:
    request = urllib.request.Request(f"http://127.0.0.1:{nodes.port('win-0')}/mirror{path}", headers=headers)
    with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310 - the simulated node's own address
        data: bytes = reply.read()
    return data


def control(nodes: SimulatedNodes, document: Any) -> Any:
    account = b64encode(b"Administrator:lockstep").decode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{nodes.port('win-0')}/control",
        json.dumps(document).encode(),
        {"Authorization": f"Basic {account}"},
    )
    with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310 - the simulated node's own address
        return json.load(reply)


def test_downloads_are_counted_apart(nodes: SimulatedNodes) -> None:
    data = get(nodes)
    assert nodes.stats()["win-0"]["requests"] == 0
    assert nodes.mirror_stats.data() == {"requests": 1, "bytes_sent": len(data), "by_path": {PATH: 1}}
    nodes.reset_stats()
    assert nodes.mirror_stats.data()["requests"] == 0


def test_head_tells_the_size_alone(nodes: SimulatedNodes) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", nodes.port("win-0"), timeout=10)
    connection.request("HEAD", f"/mirror{PATH}")
    reply = connection.getresponse()
    assert (reply.status, reply.read()) == (200, b"")
    assert reply.headers["Content-Length"] == str(len(get(nodes)))
    connection.close()


def test_a_download_that_is_cut_off_once(nodes: SimulatedNodes) -> None:
    assert control(nodes, {"mirror": [{"path": "*.tar.gz", "does": "cut", "bytes": 100}]})["mirror"]
    with pytest.raises(http.client.IncompleteRead) as caught:
        get(nodes)
    assert len(caught.value.partial) == 100
    assert len(get(nodes)) > 100
    assert nodes.mirror_faults.data() == []


def test_a_page_in_place_of_a_file(nodes: SimulatedNodes) -> None:
    nodes.mirror_faults.set([{"path": "*", "does": "page", "times": None}])
    assert get(nodes).startswith(b"<!DOCTYPE html>")
    assert get(nodes).startswith(b"<!DOCTYPE html>")


def test_other_bytes(nodes: SimulatedNodes) -> None:
    good = get(nodes)
    nodes.mirror_faults.set([{"path": "*.tar.gz", "does": "wrong"}])
    assert get(nodes, f"{PATH}.sha256sum").startswith(hashlib.sha256(good).hexdigest().encode())
    wrong = get(nodes)
    assert len(wrong) == len(good)
    assert wrong != good


@pytest.mark.parametrize(("does", "status"), [("missing", 404), ("login", 401)])
def test_refusals(does: str, status: int, nodes: SimulatedNodes) -> None:
    nodes.mirror_faults.set([{"path": "*", "does": does, "times": None}])
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(nodes)
    assert caught.value.code == status
    caught.value.close()


def test_who_logs_on_is_let_in(nodes: SimulatedNodes) -> None:
    nodes.mirror_faults.set([{"path": "*", "does": "login", "times": None}])
    assert get(nodes, Authorization="Bearer token") == mirror.download("containerd", "2.3.4")


def test_a_redirect_leads_to_the_file(nodes: SimulatedNodes) -> None:
    nodes.mirror_faults.set([{"path": "*", "does": "redirect", "times": None}])
    assert get(nodes) == mirror.download("containerd", "2.3.4")
    assert nodes.mirror_stats.data()["requests"] == 2


def test_a_slow_download(nodes: SimulatedNodes) -> None:
    nodes.mirror_faults.set([{"path": "*", "does": "slow", "seconds": 0.3}])
    began = time.monotonic()
    assert get(nodes) == mirror.download("containerd", "2.3.4")
    assert time.monotonic() - began >= 0.3


WRONG: list[tuple[Any, str]] = [
    ({}, "is a list"),
    (["cut"], "is an object with path"),
    ([{"path": "*", "does": "explode"}], "one of cut, page"),
    ([{"does": "page"}], "is an object with path"),
    ([{"path": "*", "does": "cut"}], "needs bytes"),
    ([{"path": "*", "does": "page", "bytes": 1}], "has no bytes"),
    ([{"path": "*", "does": "slow", "seconds": True}], "cannot be true"),
]


@pytest.mark.parametrize(("faults", "words"), WRONG, ids=lambda value: json.dumps(value)[:40])
def test_wrong_faults(faults: Any, words: str, nodes: SimulatedNodes) -> None:
    with pytest.raises(ValueError, match=words):
        nodes.mirror_faults.set(faults)
