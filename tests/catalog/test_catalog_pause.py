from __future__ import annotations

import pytest

from lockstep.catalog import pause
from lockstep.catalog.builds import resolve


@pytest.mark.parametrize(
    ("host", "containerd", "tag", "image"),
    [
        # kubernetes/kubernetes build/pause/CHANGELOG.md: 2022 from 3.6, 2025 from 3.10.2, 20H2 until 3.8.
        ("ltsc2022", "2.3.4", "3.10.2", "3.10.2"),
        ("ltsc2022", "1.7.30", "3.9", "3.9"),
        ("ltsc2022", "1.6.39", "3.5", "3.6"),
        ("ltsc2025", "2.3.4", "3.10.1", "3.10.2"),
        ("ltsc2025", "1.7.30", "3.9", "3.10.2"),
        ("ltsc2019", "2.3.4", "3.10.2", "3.10.2"),
        ("20H2", "1.7.30", "3.9", "3.8"),
        ("1909", "1.7.30", "3.9", "3.6"),
        ("23H2", "2.3.4", "3.5", "3.6"),
        ("26200", "2.3.4", "3.10", "3.10.2"),
    ],
)
def test_a_host_gets_a_pause_image_that_has_its_build(host: str, containerd: str, tag: str, image: str) -> None:
    assert pause.image_for(resolve(host), containerd, tag) == f"registry.k8s.io/pause:{image}"


@pytest.mark.parametrize(("host", "containerd"), [("ltsc2016", "2.3.4"), ("1803", "2.3.4"), ("23H2", "1.7.5")])
def test_no_image_is_made_up_for_a_host_that_none_serves(host: str, containerd: str) -> None:
    assert pause.image_for(resolve(host), containerd, "3.10.2") is None


@pytest.mark.parametrize(
    ("image", "builds"),
    [
        ("registry.k8s.io/pause:3.10", ["ltsc2019", "ltsc2022"]),
        ("registry.k8s.io/pause:3.10.1", ["ltsc2019", "ltsc2022"]),
        ("registry.k8s.io/pause:3.10.2", ["ltsc2019", "ltsc2022", "ltsc2025"]),
        ("registry.k8s.io/pause:3.5", ["ltsc2019", "1903", "1909", "2004", "20H2"]),
        ("registry.k8s.io/pause:3.3", []),
        ("registry.example:5000/mirror/pause:3.9-windows-ltsc2022-amd64", ["ltsc2022"]),
        ("mcr.microsoft.com/oss/kubernetes/pause:3.9-windows-1809-amd64", ["ltsc2019"]),
        ("registry.example:5000/pause:3.10", None),
        ("registry.example:5000/pause", None),
        ("registry.k8s.io/pause:latest", None),
        ("registry.k8s.io/pause@sha256:" + "a" * 64, None),
        ("registry.example/pause:1-windows-nanoserver-amd64", None),
    ],
)
def test_what_is_known_of_an_image(image: str, builds: list[str] | None) -> None:
    found = pause.manifests(image)
    assert (None if found is None else [build.alias for build in found]) == builds


def test_a_2025_host_boots_2022_from_an_image_without_2025() -> None:
    host = resolve("ltsc2025")
    assert pause.lacks("registry.k8s.io/pause:3.10.1", host)
    assert pause.picked("registry.k8s.io/pause:3.10.1", host, "2.3.4") == resolve("ltsc2022")
    assert pause.picked("registry.k8s.io/pause:3.10.2", host, "2.3.4") == host
    assert pause.picked("registry.k8s.io/pause:3.10.1", host, "1.7.5") is None


def test_an_image_of_one_platform_is_taken_as_it_is() -> None:
    image = pause.single_platform_image(resolve("ltsc2019"))
    assert image is not None
    assert pause.picked(image, resolve("ltsc2025"), "2.3.4") == resolve("ltsc2019")
    assert pause.single_platform_image(resolve("ltsc2025")) is None


def test_microsofts_own_image_has_2025_from_its_third_revision() -> None:
    host = resolve("ltsc2025")
    assert pause.lacks("mcr.microsoft.com/oss/v2/kubernetes/pause:3.10.1", host)
    assert not pause.lacks("mcr.microsoft.com/oss/v2/kubernetes/pause:3.10.1-3", host)
    assert not pause.lacks("mcr.microsoft.com/oss/v2/kubernetes/pause:3.10.1", resolve("ltsc2022"))
