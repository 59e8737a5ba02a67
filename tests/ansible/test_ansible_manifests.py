"""runtimeclass_manifests: a folder is brought up to date, and check mode says how."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from lockstep.ansible.errors import TaskError
from lockstep.ansible.fleet import plan_of
from lockstep.ansible.runtimeclass_manifests import render_into_folder
from lockstep.runtimeclass.render import render


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else {}


def run(fleet: dict[str, Any], folder: Path, *, prune: bool = True, check_mode: bool = False) -> dict[str, Any]:
    return render_into_folder({"fleet": fleet, "dest": str(folder), "prune": prune}, check_mode=check_mode)


def test_the_folder_gets_what_the_renderer_gives(fleet: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "down"
    shown = run(fleet, folder, check_mode=True)
    assert content(folder) == {}
    assert run(fleet, folder) == shown
    assert (
        content(folder)
        == render(plan_of(fleet))
        == {Path(diff["after_header"]).name: diff["after"] for diff in shown["diff"]}
    )
    again = run(fleet, folder)
    assert (again["changed"], again["written"], again["diff"]) == (False, [], [])


def test_a_class_that_is_gone_goes_unless_told_otherwise_and_other_files_stay(
    fleet: dict[str, Any], tmp_path: Path
) -> None:
    run(fleet, tmp_path)
    (tmp_path / "mine.yaml").write_text("kind: RuntimeClass\n")
    smaller = copy.deepcopy(fleet)
    del smaller["runtime_classes"]["windows-2022"]
    kept = run(smaller, tmp_path, prune=False)
    assert (kept["written"], kept["removed"]) == (["kustomization.yaml"], [])
    assert run(smaller, tmp_path)["removed"] == ["windows-2022.yaml"]
    assert "mine.yaml" in content(tmp_path)


def test_a_folder_that_is_a_file_is_one_clear_error(fleet: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TaskError, match="file"):
        run(fleet, tmp_path / "file")


def test_a_fleet_that_cannot_be_writes_nothing(fleet: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="did you mean"):
        run(fleet | {"pools": {"win2025": {"host": "ltcs2025"}}}, tmp_path / "out")
    assert not (tmp_path / "out").exists()
