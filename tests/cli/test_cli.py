"""The program as a user starts it: what it prints, and how it ends."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "inventories" / "demo"

FLEET = """\
lockstep_fleet:
  kubernetes: "1.36.1"
  containerd: "2.3.4"
  pools:
    win2022: {host: ltsc2022}
  runtime_classes:
    windows-2022: {isolation: process, guest: ltsc2022}
"""


def lockstep(*arguments: object, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lockstep", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=ROOT,
    )


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    path = tmp_path / "fleet.yml"
    path.write_text(FLEET)
    return path


def test_check_passes_the_demo() -> None:
    result = lockstep("check", "-i", DEMO)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "0 errors, 0 warnings in 1 file (2 pools, 3 classes)\n"


def test_check_names_the_place_and_ends_with_1(fleet: Path) -> None:
    fleet.write_text(FLEET.replace("host: ltsc2022", "host: ltcs2022"))
    result = lockstep("check", fleet)
    assert result.returncode == 1
    assert f"{fleet}:5:21: error" in result.stdout.replace("\n  ", " ")
    assert "did you mean 'ltsc2022'" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check",), "name the description"),
        (("check", "nowhere.yml"), "nowhere.yml does not exist"),
        (("show", "-i", DEMO, "also.yml"), "name the description"),
        (("render", "-i", DEMO, "--check"), "name it with -o DIR"),
        (("verify", "-i", DEMO, "--manifests", "no", "--observed", "no", "--nodes", "-"), "no is not a folder"),
        (("sim",), "--state"),
        (("chekc",), "check"),
    ],
)
def test_unusable_arguments_end_with_2(arguments: tuple[object, ...], said: str) -> None:
    result = lockstep(*arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("command", ["show", "render"])
def test_no_plan_is_shown_of_a_wrong_description(command: str, fleet: Path) -> None:
    fleet.write_text(FLEET.replace("guest: ltsc2022", "guest: ltsc2025"))
    result = lockstep(command, fleet)
    assert (result.returncode, result.stdout) == (1, "")
    assert "error" in result.stderr


def test_show_fits_80_columns_and_has_every_pool_and_class() -> None:
    text = lockstep("show", "-i", DEMO).stdout
    assert max(map(len, text.splitlines())) <= 80
    for name in ("win2022", "win2025", "windows-2022", "windows-2025-hyperv", "os=windows:NoSchedule"):
        assert name in text


def test_show_as_data_is_the_whole_plan() -> None:
    plan = json.loads(lockstep("show", "-i", DEMO, "--format", "json").stdout)
    assert set(plan["pools"]) == {"win2022", "win2025"}
    handlers = plan["pools"]["win2025"]["containerd"]["handlers"]
    assert [handler["name"] for handler in handlers] == ["runhcs-wcow-process", "runhcs-wcow-hypervisor"]
    assert handlers[1]["options"]["VmMemorySizeInMb"] == 2048


def test_render_to_standard_output_is_the_files_in_one_stream(tmp_path: Path) -> None:
    stream = list(yaml.safe_load_all(lockstep("render", "-i", DEMO).stdout))
    lockstep("render", "-i", DEMO, "-o", tmp_path)
    files = [path for path in sorted(tmp_path.iterdir()) if path.name != "kustomization.yaml"]
    assert stream == [yaml.safe_load(path.read_text()) for path in files]
    assert len(stream) == 3


def test_render_check_finds_what_is_stale(tmp_path: Path, fleet: Path) -> None:
    out = tmp_path / "out"
    assert "missing" in lockstep("render", fleet, "-o", out, "--check").stdout
    assert not out.exists()
    assert lockstep("render", fleet, "-o", out).returncode == 0
    assert lockstep("render", fleet, "-o", out, "--check").returncode == 0
    fleet.write_text(FLEET.replace("ltsc2022", "ltsc2025"))
    result = lockstep("render", fleet, "-o", out, "--check")
    assert result.returncode == 1
    assert f"stale: {out}/windows-2022.yaml" in result.stdout
    assert '-    node.kubernetes.io/windows-build: "10.0.20348"' in result.stdout
    assert '+    node.kubernetes.io/windows-build: "10.0.26100"' in result.stdout


def test_rendering_again_changes_nothing_and_a_class_that_went_is_removed(tmp_path: Path, fleet: Path) -> None:
    out = tmp_path / "out"
    fleet.write_text(FLEET + "    other: {isolation: process, guest: ltsc2022}\n")
    lockstep("render", fleet, "-o", out)
    assert "0 changed" in lockstep("render", fleet, "-o", out).stdout
    fleet.write_text(FLEET)
    assert f"removed {out}/other.yaml" in lockstep("render", fleet, "-o", out).stdout
    assert sorted(path.name for path in out.iterdir()) == ["kustomization.yaml", "windows-2022.yaml"]


def test_a_folder_in_the_way_is_an_input_error(tmp_path: Path, fleet: Path) -> None:
    (tmp_path / "out").write_text("")
    result = lockstep("render", fleet, "-o", tmp_path / "out")
    assert result.returncode == 2
    assert str(tmp_path / "out") in result.stderr


def test_nodes_that_are_no_nodes_are_refused(tmp_path: Path) -> None:
    result = lockstep(
        "verify", "-i", DEMO, "--manifests", tmp_path, "--observed", tmp_path, "--nodes", "-", stdin="Unauthorized"
    )
    assert result.returncode == 2
    assert "kubectl get nodes -o json" in result.stderr


def test_a_reader_that_has_enough_is_no_error() -> None:
    shell = shutil.which("bash")
    assert shell is not None
    command = f"set -o pipefail; {sys.executable} -m lockstep show -i {DEMO} --format json | head -n 1"
    result = subprocess.run([shell, "-c", command], capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, "{\n", "")


def test_version() -> None:
    assert lockstep("--version").stdout.startswith("lockstep 0.")


def test_a_changed_handler_is_told_because_no_cluster_takes_it(tmp_path: Path, fleet: Path) -> None:
    out = tmp_path / "out"
    lockstep("render", fleet, "-o", out)
    fleet.write_text(FLEET.replace("isolation: process", "isolation: hyperv, overhead: {memory: 512Mi}"))
    for arguments in (("--check",), ()):
        said = lockstep("render", fleet, "-o", out, *arguments).stdout
        assert "cannot be edited in a cluster: windows-2022" in said
    assert "cannot be edited" not in lockstep("render", fleet, "-o", out).stdout


def test_verify_takes_what_was_kept_of_nodes_and_tells_why_nothing_is_in_effect(tmp_path: Path) -> None:
    observed = tmp_path / "observed"
    observed.mkdir()
    handlers = {"runhcs-wcow-process": {"runtime_type": "io.containerd.runhcs.v1"}}
    effective = {"handlers": handlers, "pause_image": "registry.k8s.io/pause:3.9", "default_handler": None}
    kept: dict[str, dict[str, object]] = {
        "win2022-0": {"node": {"windows": {}, "containerd": effective}},
        "win2025-0": {"node": {"windows": {}, "containerd": {"error": "toml: expected a key"}}},
        "gone-0": {"error": "no route to host"},
    }
    for name, said in kept.items():
        (observed / f"{name}.json").write_text(json.dumps({"host": name, "groups": [], **said}))
    arguments = ("verify", "-i", DEMO, "--manifests", tmp_path, "--observed", observed, "--nodes", "-")
    result = lockstep(*arguments, stdin='{"kind": "List", "items": []}')
    assert result.returncode == 1
    assert "win2025-0: no handler is in effect: toml: expected a key" in result.stderr
    assert "gone-0: no handler is in effect: no route to host" in result.stderr
    assert "node win2022-0 of pool win2022 has pause image registry.k8s.io/pause:3.9" in " ".join(result.stdout.split())
