"""`lockstep artifacts`, against the simulator's mirror of the releases."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from lockstep.cli.main import main
from lockstep.sim import NodeSpec, SimulatedNodes
from lockstep.sim.mirror import download

ROOT = Path(__file__).resolve().parents[2]
DEMO = str(ROOT / "inventories" / "demo")
NAMES = ["containerd", "cni-plugins", "crictl", "kubelet", "kubeadm", "kube-proxy", "kube-log-runner"]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedNodes]:
    spec = NodeSpec("bare-0", "ltsc2025", "2.3.4", "1.36.1", prepared="nothing")
    with SimulatedNodes(tmp_path_factory.mktemp("nodes"), [spec]) as found:
        yield found


@pytest.fixture
def mirror(nodes: SimulatedNodes) -> Iterator[str]:
    yield nodes.mirror("bare-0")
    nodes.mirror_faults.set([])


def sha256(name: str, version: str) -> str:
    return hashlib.sha256(download(name, version)).hexdigest()


def test_the_list_has_what_the_description_needs_as_the_roles_variable(
    mirror: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["artifacts", "-i", DEMO, "--mirror", mirror]) == 0
    pinned = yaml.safe_load(capsys.readouterr().out)["artifacts_pinned"]
    assert list(pinned) == NAMES
    assert pinned["containerd"] == {"2.3.4": sha256("containerd", "2.3.4")}
    assert pinned["crictl"] == {"1.36.0": sha256("crictl", "1.36.0")}


def test_the_roles_defaults_are_the_commands(mirror: str, capsys: pytest.CaptureFixture[str]) -> None:
    defaults = yaml.safe_load((ROOT / "roles" / "artifacts" / "defaults" / "main.yml").read_text())
    assert main(["artifacts", "-i", DEMO, "--mirror", mirror]) == 0
    pinned = yaml.safe_load(capsys.readouterr().out)["artifacts_pinned"]
    assert list(pinned["cni-plugins"]) == [defaults["artifacts_cni_plugins_version"]]
    assert [name for name in NAMES if f"'name': '{name}'" in defaults["artifacts_list"]] == NAMES


def test_a_list_that_is_there_is_completed_and_nothing_in_it_changes(
    mirror: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "group_vars" / "artifacts.yml"
    asked = ["artifacts", "--mirror", mirror, "-o", str(path), "--artifact"]
    assert main([*asked, "kubelet=1.36.0"]) == 0
    assert main([*asked, "kubelet=v1.36.1"]) == 0
    assert "2 releases, 1 of them new" in capsys.readouterr().out
    written = path.read_bytes()
    assert main([*asked, "kubelet=1.36.1"]) == 0
    assert path.read_bytes() == written
    assert list(yaml.safe_load(written)["artifacts_pinned"]["kubelet"]) == ["1.36.0", "1.36.1"]
    assert f"# {mirror}/v1.36.0/bin/windows/amd64/kubelet.exe.sha256" in written.decode()


def test_a_release_that_was_replaced_is_told_and_the_pin_stays(
    mirror: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "artifacts.yml"
    path.write_text(f'artifacts_pinned:\n  kubelet:\n    "1.36.1": "{"0" * 64}"\n')
    assert main(["artifacts", "--artifact", "kubelet=1.36.1", "--mirror", mirror, "-o", str(path)]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert f"kubelet 1.36.1: it is pinned as {'0' * 64}, but" in said
    assert "somebody replaced it" in said
    assert yaml.safe_load(path.read_text())["artifacts_pinned"]["kubelet"] == {"1.36.1": "0" * 64}


@pytest.mark.parametrize("below", [True, False], ids=["as on a mirror", "by their names alone"])
def test_files_that_are_there_need_nobody(*, below: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "nssm-2.24-101-g897c7ad.zip"
    path = tmp_path / ("ci" if below else "") / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"an archive")
    assert main(["artifacts", "--artifact", "nssm", "--from", str(tmp_path)]) == 0
    pinned = yaml.safe_load(capsys.readouterr().out)["artifacts_pinned"]
    assert pinned == {"nssm": {"2.24-101-g897c7ad": hashlib.sha256(b"an archive").hexdigest()}}


def test_what_cannot_be_had_is_told_and_the_rest_is_there(
    nodes: SimulatedNodes, mirror: str, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes.mirror_faults.set([
        {"path": "*kubelet.exe.sha256", "does": "missing"},
        {"path": "*kubeadm.exe.sha256", "does": "page"},
    ])  # fmt: skip
    assert main(["artifacts", "-i", DEMO, "--mirror", mirror, "--artifact", "nssm"]) == 1
    told = capsys.readouterr()
    assert list(yaml.safe_load(told.out)["artifacts_pinned"]) == [
        name for name in NAMES if name not in {"kubelet", "kubeadm"}
    ]
    said = " ".join(told.err.split())
    assert "kubelet.exe.sha256: 404" in said
    assert "kubeadm 1.36.1: it is a web page, not a checksum" in said
    assert "nssm 2.24-101-g897c7ad: its project publishes none" in said


def site(folder: Path, **variables: object) -> str:
    shutil.copytree(DEMO, folder, dirs_exist_ok=True)
    (folder / "group_vars" / "win2025.yml").write_text(yaml.safe_dump(variables))
    return str(folder)


def test_the_inventorys_variables_count_as_they_do_for_the_role(
    mirror: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = {"name": "own", "version": "1", "url": "https://example.com/own.exe"}
    extra = [
        {"name": "kubeadm", "version": "1.36.0"},
        {**own, "sha256": "0" * 64},
        {**own, "version": "2", "sha256_url": f"{mirror}/v1.36.1/bin/windows/amd64/kubelet.exe.sha256"},
    ]
    inventory = site(
        tmp_path, artifacts_mirror=mirror, artifacts_crictl_version="{{ '1.36' ~ '.1' }}",
        artifacts_cni_plugins_version="", artifacts_extra=extra,
    )  # fmt: skip
    shown = main(["artifacts", "-i", inventory, "--mirror", mirror])
    told = capsys.readouterr()
    assert (shown, told.err) == (0, "")
    pinned = yaml.safe_load(told.out)["artifacts_pinned"]
    # win2022 has none of these variables.
    assert pinned["crictl"] == {"1.36.0": sha256("crictl", "1.36.0"), "1.36.1": sha256("crictl", "1.36.1")}
    assert list(pinned["kubeadm"]) == ["1.36.0", "1.36.1"]
    assert pinned["own"] == {"2": sha256("kubelet", "1.36.1")}
    both = {"hosts": None, "children": {"windows": {"children": {"win2025": {"hosts": {"win2025-0": None}}}}}}
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"all": both}))
    fleet = (tmp_path / "group_vars" / "windows.yml").read_text().replace("    win2022: {host: ltsc2022}\n", "")
    (tmp_path / "group_vars" / "windows.yml").write_text(
        "\n".join(line for line in fleet.splitlines() if "windows-2022" not in line)
    )
    assert main(["artifacts", "-i", inventory]) == 0
    pinned = yaml.safe_load(capsys.readouterr().out)["artifacts_pinned"]
    assert "cni-plugins" not in pinned
    assert list(pinned["crictl"]) == ["1.36.1"]


def test_a_template_that_needs_a_play_is_told_with_the_flag(
    mirror: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inventory = site(tmp_path, artifacts_crictl_version="{{ nobody_knows }}", artifacts_mirror="http://mirror.example")
    assert main(["artifacts", "-i", inventory, "--mirror", mirror]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "artifacts_crictl_version is a template that cannot be evaluated" in said
    assert "--artifact crictl=VERSION" in said
    assert main(["artifacts", "-i", inventory, "--mirror", mirror, "--artifact", "crictl=1.36.0"]) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "name the description (a YAML file, or an inventory with -i), or an artifact"),
        (["--artifact", "kubelet"], "--artifact kubelet: say which version, kubelet=VERSION"),
        (["--artifact", "nssm", "--mirror", "http://example.com"], "checksums have to come over https"),
        (["--artifact", "nssm", "--from", "/none"], "--from /none: there is no such folder"),
    ],
)
def test_what_the_command_cannot_use(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["artifacts", *arguments]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[", "it is no YAML"),
        ("other: 1\n", "expected artifacts_pinned and nothing else"),
        ("artifacts_pinned: {kubelet: x}\n", "kubelet: expected a SHA-256 a version"),
        ("artifacts_pinned: {kubelet: {1.36: x}}\n", "expected a version in quotes and its SHA-256"),
    ],
)
def test_a_file_that_is_no_such_list_is_left_alone(
    content: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "artifacts.yml"
    path.write_text(content)
    assert main(["artifacts", "--artifact", "kubelet=1.36.1", "-o", str(path)]) == 2
    assert says in capsys.readouterr().err
    assert path.read_text() == content
