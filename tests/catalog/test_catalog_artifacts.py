from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from lockstep.catalog.artifacts import FORMATS, artifact, default_version, known_artifacts, known_services
from lockstep.catalog.data import load

KUBERNETES = {"kubelet": "1.36.1"}


@pytest.mark.parametrize("name", known_artifacts())
def test_an_artifact_says_where_it_comes_from_and_where_its_files_go(name: str) -> None:
    found = artifact(name, "1.2.3")
    assert found.url.startswith("https://")
    assert "1.2.3" in urlsplit(found.url).path
    assert "{" not in f"{found.url}{found.sums}{found.says}{found.files}"
    assert found.format in FORMATS
    assert re.match(r"C:\\", found.folder)
    assert found.files
    assert load("artifacts")["artifacts"][name]["source"]


@pytest.mark.parametrize("name", known_artifacts())
def test_what_uses_a_file_or_tells_its_release_is_about_a_file_that_it_has(name: str) -> None:
    found = artifact(name, "1.2.3")
    files = {outside for _, outside in found.files}
    assert set(found.services) <= files
    assert {kind for uses in found.services.values() for kind in uses} <= set(known_services())
    assert found.says is None or (found.says.file in files and "1.2.3" in found.says.text)


def test_no_two_artifacts_have_a_file_in_one_place() -> None:
    places = [
        f"{found.folder}\\{outside}".lower()
        for name in known_artifacts()
        for found in [artifact(name, "1.2.3")]
        for _, outside in found.files
    ]
    assert len(places) == len(set(places))


@pytest.mark.parametrize(
    ("name", "version", "url", "sums"),
    [
        (
            "containerd",
            "v2.3.4",
            "https://github.com/containerd/containerd/releases/download/v2.3.4/containerd-2.3.4-windows-amd64.tar.gz",
            ".sha256sum",
        ),
        (
            "crictl",
            "1.36.0",
            "https://github.com/kubernetes-sigs/cri-tools/releases/download/v1.36.0/crictl-v1.36.0-windows-amd64.tar.gz",
            ".sha256",
        ),
        ("kubelet", "1.36.1", "https://dl.k8s.io/v1.36.1/bin/windows/amd64/kubelet.exe", ".sha256"),
        ("nssm", "2.24", "https://nssm.cc/release/nssm-2.24.zip", None),
        ("nssm", "2.24-101-g897c7ad", "https://nssm.cc/ci/nssm-2.24-101-g897c7ad.zip", None),
    ],
)
def test_addresses(name: str, version: str, url: str, sums: str | None) -> None:
    found = artifact(name, version)
    assert found.url == url
    assert (found.sums.url if found.sums else None) == (f"{url}{sums}" if sums else None)


def test_versions_that_follow_another() -> None:
    assert default_version("kubeadm", KUBERNETES) == "1.36.1"
    assert default_version("crictl", KUBERNETES) == "1.36.0"
    assert default_version("crictl", {}) is None
    assert default_version("crictl", {"kubelet": "latest"}) is None
    assert default_version("containerd", KUBERNETES) is None
    with pytest.raises(KeyError):
        default_version("docker", {})
