"""Findings about a whole file that lacks a field speak of the default, and not of something that is written."""

from __future__ import annotations

import pytest

from lockstep.kubelet.check import check_configuration

HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"


def messages(text: str, version: str = "1.36.1") -> dict[str, str]:
    problems = check_configuration((HEAD + text).encode(), version)
    return {problem.path[0]: problem.message for problem in problems if isinstance(problem.path[0], str)}


@pytest.mark.parametrize(
    ("field", "default", "written"),
    [
        ("cgroupsPerQOS", "true", "true"),
        ("enforceNodeAllocatable", "[pods]", "[pods]"),
        ("resolvConf", "'/etc/resolv.conf'", "/etc/resolv.conf"),
    ],
)
@pytest.mark.parametrize("version", ["1.30.0", "1.36.1"])
def test_what_is_not_written_is_said_to_be_a_default(field: str, default: str, written: str, version: str) -> None:
    assert f"{field} is not written, and its default ({default})" in messages("", version)[field]
    assert f"{field} is {default}, which" in messages(f"{field}: {written}\n", version)[field]


def test_an_endpoint_that_is_not_written() -> None:
    assert "is not written" in messages("")["containerRuntimeEndpoint"]
    assert "is empty" in messages('containerRuntimeEndpoint: ""\n')["containerRuntimeEndpoint"]


def test_a_limit_of_processes_does_nothing_in_a_file_either() -> None:
    found = messages("podPidsLimit: 100\ncgroupDriver: systemd\nfailSwapOn: false\n")
    assert found["podPidsLimit"] == "podPidsLimit does nothing on Windows"
    assert "podPidsLimit" not in messages("podPidsLimit: -1\n")
    assert not {"cgroupDriver", "failSwapOn"} & found.keys()
