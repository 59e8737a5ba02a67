"""`lockstep check` as a user starts it, with files of every kind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = Path(__file__).parent / "cases"
CLASS = (CASES / "LW511-right.yaml").read_text(encoding="utf-8")
LINE = r"C:\k\kubelet.exe --windows-service --config=C:\var\lib\kubelet\config.yaml"
PRINTED = """\
[SC] QueryServiceConfig SUCCESS

SERVICE_NAME: kubelet
        TYPE               : 10  WIN32_OWN_PROCESS
        BINARY_PATH_NAME   : kubelet.exe --windows-service --foo
        LOAD_ORDER_GROUP   :
        DISPLAY_NAME       : kubelet
"""


def check(*arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lockstep", "check", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)


@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "said"),
    [
        (("-",), CLASS, 0, "0 errors, 0 warnings in 1 file (1 class)"),
        (("-",), CLASS.replace("runhcs-wcow-process", "docker"), 1, "<stdin>:5:10: error LW504"),
        (("-",), 'kubernetes: "1.36.1"\n', 1, "<stdin>:"),
        (("-",), "{{- if x }}\nkind: RuntimeClass\n", 1, "helm template"),
        (("-",), "", 1, "<stdin> is empty"),
        ((CASES / "LW405-wrong.toml", "--containerd", "1.7.36"), "", 1, "LW405"),
        ((CASES / "LW405-wrong.toml",), "", 0, "name it with --containerd"),
        ((CASES / "LW422-wrong.toml",), "", 0, "--host"),
        ((ROOT / "tests/kubelet/files/wmco.yaml",), "", 0, "--kubernetes"),
        (("--command-line", LINE, "--kubernetes", "1.36.1"), "", 0, "0 errors"),
        (("--command-line", "kubelet.exe --foo", "--kubernetes", "1.36.1"), "", 1, "--command-line:1:13: error LW331"),
        (("--command-line", "kubelet.exe --config-dir=C:/k/d", "--kubernetes", "1.36.1"), "", 0, "0 errors, 1 warning"),
        (("--command-line", "kubelet.exe --config-dir=", "--kubernetes", "1.36"), "", 0, "--command-line:1:1: warning"),
        (("--command-line", "kubelet.exe --kubeconfig=c x", "--kubernetes", "1.36.1"), "", 1, ":1:28: error LW332"),
        (("--command-line", PRINTED, "--kubernetes", "1.36.1"), "", 1, "--command-line:1:31: error LW331"),
        (("--command-line", "cmd.exe /c x", "--kubernetes", "1.36.1"), "", 1, "LW329"),
        ((ROOT / "LICENSE",), "", 1, "nothing that can be checked"),
        ((CASES / "LW601-wrong",), "", 1, "LW601"),
        ((CASES / "LW511-right.yaml", "--kubernetes", "1.36.1", "-", "--host", "ltsc2022"), CLASS, 1, "in 2 files"),
    ],
)
def test_what_it_says_and_how_it_ends(arguments: tuple[str, ...], stdin: str, status: int, said: str) -> None:
    result = check(*arguments, stdin=stdin)
    assert (result.returncode, result.stderr) == (status, "")
    assert said in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name the description"),
        (("nowhere.toml",), "nowhere.toml does not exist"),
        (("-i", "nowhere"), "nowhere does not exist"),
        (("-", "--containerd", "2.3"), "did you mean '2.3.0'?"),
        (("-", "--containerd", "9.9.9"), "no known series"),
        (("-", "--kubernetes", "2.1"), "2.1"),
        (("-", "--host", "ltcs2022"), "did you mean 'ltsc2022'?"),
        (("-", "--severity", "LW1=error"), "LW417=warning"),
        (("-", "--severity", "LW999=error"), "there is no rule LW999"),
        (("-", "--format", "xml"), "invalid choice"),
        (("-", "--host", "ltsc2022", "a.yaml", "--no-such"), "unrecognized arguments"),
    ],
)
def test_what_it_cannot_use(arguments: tuple[str, ...], said: str) -> None:
    result = check(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_files_beside_an_inventory_are_held_against_it(tmp_path: Path) -> None:
    manifest = tmp_path / "windows-2022.yaml"
    manifest.write_text(CLASS.replace("os, ", "OS, "))
    result = check("-i", "inventories/demo", manifest, "--format", "json")
    document = json.loads(result.stdout)
    assert result.returncode == 1
    assert {"LW604", "LW606"} <= {finding["rule"] for finding in document["findings"]}
    assert {finding["file"] for finding in document["findings"] if finding["severity"] == "error"} == {str(manifest)}


def test_what_the_description_says_need_not_be_said_again(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("version = 4\n")
    fleet = tmp_path / "fleet.yml"
    fleet.write_text('kubernetes: "1.34.0"\ncontainerd: "2.2.9"\npools: {a: {host: ltsc2022}}\n')
    result = check(fleet, config)
    said = " ".join(result.stdout.split())
    assert "containerd 2.2.9 reads config version 3 at most" in said
    assert "as the description says: containerd 2.2.9, Kubernetes 1.34.0, host ltsc2022" in said


def test_in_a_folder_only_what_it_knows_is_checked(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 120\n")
    (tmp_path / "Cargo.toml").write_text('version = "1"\n[package]\nname = "x"\n')
    result = check(tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"nothing to check was found in {tmp_path}" in result.stderr
    (tmp_path / "class.yaml").write_text(CLASS)
    (tmp_path / "chart.yaml").write_text("kind: RuntimeClass\nmetadata: {{ .Values.x }}\n")
    (tmp_path / "broken.yaml").write_text("kind: RuntimeClass\n- a\n")
    result = check(tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    said = " ".join(result.stdout.split())
    assert f"{tmp_path / 'chart.yaml'} was passed over: it looks like a template" in said
    assert f"{tmp_path / 'broken.yaml'} was passed over: it is not YAML" in said
    assert check(tmp_path / "broken.yaml").returncode == 1


@pytest.mark.parametrize("text", ["version = 3\n", "[plugins]\n", 'version = 2\nroot = "C:/c"\n', "imports = []\n"])
def test_in_a_folder_a_file_of_containerd_is_known_by_any_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "drop-in.toml").write_text(text)
    assert "in 1 file" in check(tmp_path).stdout


def test_an_empty_folder_is_nothing_to_check(tmp_path: Path) -> None:
    result = check(tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"nothing to check was found in {tmp_path}" in result.stderr


def test_help_says_how_it_ends() -> None:
    assert "exit status: 0 no errors" in check("--help").stdout
