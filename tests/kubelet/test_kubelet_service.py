"""What kubelet's service is made of: kubeadm's flags, the log runner, nssm, credentials, reserved resources."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.kubelet.data import cases

from lockstep.catalog.kubernetes import minor
from lockstep.kubelet import credential_providers, joining, log_runner, nssm
from lockstep.kubelet.configuration import merge_configuration
from lockstep.kubelet.kubeadm_flags import read_flags
from lockstep.kubelet.problem import CommandLineError
from lockstep.kubelet.reserved import cpu_millicores, memory_mebibytes, reserved

GIB = 1024**3


@pytest.mark.parametrize("case", cases("kubeadm"))
def test_flags_that_kubeadm_left(case: dict[str, Any]) -> None:
    found = read_flags(case["content"].encode(), minor(case["version"]))
    assert dict(found.flags) == case["flags"]
    assert len(found.dropped) == len(case["dropped"])
    assert all(expected in told for expected, told in zip(case["dropped"], found.dropped, strict=True))


@pytest.mark.parametrize("case", cases("kubeadm", refused=True))
def test_a_file_that_kubeadm_did_not_write(case: dict[str, Any]) -> None:
    with pytest.raises(CommandLineError) as caught:
        read_flags(case["content"].encode(), minor(case["version"]))
    assert case["error"] in str(caught.value)


def test_no_file_of_kubeadm_is_no_flag() -> None:
    assert read_flags(None, minor("1.36.1")).flags == {}


@pytest.mark.parametrize("case", cases("runner"))
def test_flags_of_the_log_runner(case: dict[str, Any]) -> None:
    after = log_runner.with_flags(case["arguments"], case["wanted"])
    assert list(after) == case["after"]
    assert log_runner.with_flags(after, case["wanted"]) == after
    assert log_runner.values_of(after).items() >= case["wanted"].items()


@pytest.mark.parametrize(
    "line",
    [
        r"C:\k\kubelet.exe --windows-service",
        r'"C:\Program Files\k\kube-log-runner.exe" -log-file "C:\my logs\k.log" "C:\Program Files\k\kubelet.exe" -v 2',
        r"C:\k\kube-log-runner.exe C:\k\kubelet.exe",
    ],
)
def test_a_line_that_is_taken_apart_and_put_together_is_the_same(line: str) -> None:
    assert log_runner.take_apart(line).text() == line


@pytest.mark.parametrize("version", ["1.24.0", "1.33.9", "1.34.0", "1.37.2"])
def test_the_log_runner_rotates_from_1_34_on(version: str) -> None:
    rotates = minor(version).number >= (1, 34)
    assert log_runner.knows(log_runner.LOG_FILE_SIZE, minor(version)) is rotates
    assert log_runner.knows(log_runner.LOG_FILE, minor(version))
    assert log_runner.rotates_from() == "1.34"


LINE = r'"C:\Program Files\k\kubelet.exe" --config=C:\var\lib\kubelet\config.yaml --node-labels="a b=c"'


def test_nssm_has_the_line_in_two_parameters() -> None:
    parameters = nssm.with_line({"AppRotateFiles": 1}, LINE)
    assert parameters["Application"] == r"C:\Program Files\k\kubelet.exe"
    assert str(parameters["AppParameters"]).startswith("--config=")
    assert parameters["AppRotateFiles"] == 1
    assert nssm.line_of(parameters) == LINE


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({}, "Application is not set"),
        ({"Application": "powershell.exe", "AppParameters": r"-File C:\k\StartKubelet.ps1"}, "kept elsewhere"),
        ({"Application": r"C:\k\kube-log-runner.exe", "AppParameters": r"C:\k\kubelet.exe"}, "kept elsewhere"),
    ],
)
def test_nssm_that_starts_something_else(parameters: dict[str, str], says: str) -> None:
    with pytest.raises(CommandLineError, match=says):
        nssm.line_of(parameters)


def test_nssm_rotates_by_size() -> None:
    assert nssm.logging(r"C:\l\k.log", "50Mi") == {
        "AppStdout": r"C:\l\k.log",
        "AppStderr": r"C:\l\k.log",
        "AppRotateFiles": 1,
        "AppRotateOnline": 1,
        "AppRotateBytes": 50 * 1024**2,
    }
    assert nssm.logging(None, None) == {}
    assert nssm.logging(None, "1Ti")["AppRotateBytes"] == 2**32 - 1


@pytest.mark.parametrize("case", cases("providers"))
def test_credential_providers(case: dict[str, Any]) -> None:
    found = list(credential_providers.problems(case["providers"], minor(case["version"]), {}))
    assert len(found) == len(case["problems"]), found
    for expected in case["problems"]:
        assert any(told.startswith(expected) for told in found), (expected, found)


@pytest.mark.parametrize(
    ("version", "api"), [("1.24.0", "v1beta1"), ("1.25.3", "v1beta1"), ("1.26.0", "v1"), ("1.36.1", "v1")]
)
def test_the_file_of_providers(version: str, api: str) -> None:
    given = [
        {"name": "p", "matchImages": ["*.io"], "defaultCacheDuration": "12h", "env": [{"name": "A", "value": "s3"}]}
    ]
    content = credential_providers.render(given, minor(version))
    document = yaml.safe_load(content)
    assert document["apiVersion"] == f"kubelet.config.k8s.io/{api}"
    [provider] = document["providers"]
    assert provider == {**given[0], "apiVersion": f"credentialprovider.kubelet.k8s.io/{api}"}
    shown = credential_providers.shown(content)
    assert "s3" not in shown
    assert "A" in shown
    assert "s3" not in credential_providers.shown(b"s3: [")


# Microsoft Learn, "Node resource reservations in Azure Kubernetes Service (AKS)": the table of CPU reservations; memory
# before 1.29 in its steps, of which its worked example has 1 GiB and 0.6 GiB for 7 GiB.
@pytest.mark.parametrize(
    ("processors", "millicores"), [(1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740)]
)
def test_reserved_processors_are_the_table_s(processors: int, millicores: int) -> None:
    assert cpu_millicores(processors) == millicores


@pytest.mark.parametrize(
    ("gibibytes", "mebibytes"), [(4, 1024), (7, 1638), (8, 1843), (16, 2662), (128, 9543), (256, 12165)]
)
def test_reserved_memory_is_in_steps(gibibytes: int, mebibytes: int) -> None:
    assert memory_mebibytes(gibibytes * GIB) == mebibytes


def test_a_windows_node_of_aks() -> None:
    """AKS gives such a node kube-reserved cpu=100m,memory=3891Mi, of which 2Gi are for Windows itself."""
    found = reserved(2, 8 * GIB)
    assert found == {"cpu": "100m", "memory": "1843Mi"}
    assert 1843 + 2048 == 3891


def test_memory_that_windows_does_not_tell_is_not_guessed() -> None:
    assert reserved(4, None) == {"cpu": "140m"}


@given(st.integers(1, 512), st.integers(1, 4096))
def test_more_of_the_machine_never_reserves_less(processors: int, quarters: int) -> None:
    assert cpu_millicores(processors) <= cpu_millicores(processors + 1)
    memory = quarters * GIB // 4
    assert memory_mebibytes(memory) <= memory_mebibytes(memory + GIB // 4) <= (memory + GIB // 4) / 1024**2


@given(st.integers(4 * GIB, 64 * GIB), st.integers(-20 * 1024**2, 0))
def test_a_few_mebibytes_that_windows_does_not_see_change_nothing(memory: int, less: int) -> None:
    whole = memory // GIB * GIB
    assert memory_mebibytes(whole + less) == memory_mebibytes(whole)


def test_standalone_and_joined_are_told_apart() -> None:
    content = merge_configuration(None, joining.STANDALONE, "1.36.1")
    fields = yaml.safe_load(content)
    assert joining.is_standalone(fields)
    assert not list(joining.needs_client(fields))
    after = yaml.safe_load(merge_configuration(content, joining.JOINED, "1.36.1"))
    assert not joining.is_standalone(after)
    assert list(joining.needs_client(after)) == ["authentication.webhook.enabled: true", "authorization.mode: Webhook"]
    assert not joining.is_standalone({})


KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://api.example:6443", certificate-authority-data: Q0E=}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
users: [{name: u, user: {token: abcdef.0123456789abcdef, exec: {command: get, env: [{name: A, value: hunter2}]}}}]
"""


def test_a_kubeconfig_to_join_with() -> None:
    assert joining.kubeconfig_problem(KUBECONFIG) is None
    shown = joining.shown_kubeconfig(KUBECONFIG)
    assert "https://api.example:6443" in shown
    assert "0123456789" not in shown
    assert "hunter2" not in shown


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kind: [", "not YAML"),
        ("token: abcdef", "no kubeconfig"),
        ("kind: Config\nclusters: [1]\n", "it has no contexts, users, current-context"),
    ],
)
def test_what_is_no_kubeconfig_is_told_without_its_content(text: str, says: str) -> None:
    told = joining.kubeconfig_problem(text)
    assert told is not None
    assert says in told
    assert "abcdef" not in told


def test_certificates() -> None:
    pem = "-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n"
    assert joining.certificates_problem(pem * 2) is None
    assert "no certificate" in str(joining.certificates_problem("Q0E="))
    assert "private key" in str(joining.certificates_problem(f"{pem}-----BEGIN PRIVATE KEY-----\n"))
