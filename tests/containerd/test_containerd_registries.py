"""hosts.toml for registries as tasks state them, and what is refused because containerd would pass over it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.containerd.pem import certificate_and_key

from lockstep.containerd.errors import SettingsError
from lockstep.containerd.hosts_toml import HostsFile, hosts_files
from lockstep.containerd.registries import Registry, registries_from_data

FOLDER = Path(__file__).parent / "registries"
TEXTS = dict(zip(("CERTIFICATE", "KEY"), certificate_and_key(), strict=True))
CASES: dict[str, Any] = yaml.safe_load((FOLDER / "cases.yaml").read_text(encoding="utf-8"))
REFUSED: list[dict[str, Any]] = yaml.safe_load((FOLDER / "refused.yaml").read_text(encoding="utf-8"))
NEWEST = "2.4.2"


def filled(value: Any) -> Any:
    """A case's data with the PEM texts in it."""
    if isinstance(value, dict):
        return {key: filled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item) for item in value]
    if isinstance(value, str) and set(value.split("+")) <= TEXTS.keys():
        return "".join(TEXTS[name] for name in value.split("+"))
    return value


def files_of(case: dict[str, Any], version: str = NEWEST) -> list[HostsFile]:
    return [
        file for registry in registries_from_data(filled(case["registries"]), version) for file in hosts_files(registry)
    ]


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    case = CASES[name]
    files = files_of(case)
    assert {file.path: file.content.decode() for file in files} == filled(case["files"])
    assert [file.path for file in files if file.secret] == case.get("secret", [])
    # The file that names the others comes last: containerd must not find it before what it names.
    assert files[-1].path.endswith("hosts.toml")
    tomllib.loads(files[-1].content.decode())


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["said"])
def test_refused(case: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as caught:
        registries_from_data(filled(case["registries"]), case.get("containerd", NEWEST))
    assert case["said"] in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        registries_from_data([{"name": "a b", "server": "x", "hosts": [{"url": "y", "capabilities": ["z"]}]}], NEWEST)
    assert len(caught.value.problems) == 4


# Source: containerd core/remotes/docker/config: hostDirectory and, in config_windows.go, hostPaths.
@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("docker.io", "docker.io"),
        ("_default", "_default"),
        ("localhost:5000", "localhost_5000_"),
        ("[fd00::1]:5000", "[fd001]_5000_"),
    ],
)
def test_the_folder_of_a_registry_has_no_colon(name: str, folder: str) -> None:
    [registry] = registries_from_data([{"name": name, "server": "https://a.example"}], NEWEST)
    assert registry.folder == folder


def test_secrets_are_not_in_what_is_printed_of_an_object() -> None:
    [registry] = registries_from_data(filled(CASES["headers"]["registries"]), NEWEST)
    assert isinstance(registry, Registry)
    assert "aGlkZGVu" not in repr(registry)
    [with_key] = registries_from_data(filled(CASES["certificates"]["registries"]), NEWEST)
    assert TEXTS["KEY"].splitlines()[1] not in repr((with_key, files_of(CASES["certificates"])))
