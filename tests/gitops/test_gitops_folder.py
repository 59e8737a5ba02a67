"""A folder of manifests is brought up to date without touching what is not lockstep's."""

from pathlib import Path

import pytest

from lockstep.gitops.folder import Change, FolderError, differences, write
from lockstep.runtimeclass.render import BANNER

NEW = {"a.yaml": f"{BANNER}\na: 1\n", "kustomization.yaml": f"{BANNER}\nk: 1\n"}


def test_missing_folder_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "x" / "y"
    changes = differences(folder, NEW)
    assert [change.name for change in changes] == ["a.yaml", "kustomization.yaml"]
    write(folder, changes)
    assert {path.name: path.read_text() for path in folder.iterdir()} == NEW
    assert differences(folder, NEW) == []


def test_what_is_no_longer_described_goes_and_foreign_files_stay(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(f"{BANNER}\nold: 1\n")
    (tmp_path / "mine.yaml").write_text("mine: 1\n")
    (tmp_path / "a.yaml").write_text(f"{BANNER}\na: 0\n")
    changes = differences(tmp_path, NEW)
    assert Change("old.yaml", f"{BANNER}\nold: 1\n", None) in changes
    write(tmp_path, changes)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.yaml", "kustomization.yaml", "mine.yaml"]
    assert (tmp_path / "mine.yaml").read_text() == "mine: 1\n"


def test_line_endings_count(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(NEW["a.yaml"].replace("\n", "\r\n").encode())
    assert "a.yaml" in [change.name for change in differences(tmp_path, NEW)]


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(FolderError, match="out"):
        differences(tmp_path / "out", NEW)
