"""Neither the order of files nor that of keys changes what is found; large folders take seconds."""

import random
import time
from pathlib import Path

import pytest
import yaml
from tests.check.support import MARK, said

from lockstep.rules.everything import Inputs, check_all

CASES = sorted((Path(__file__).parent / "cases").iterdir())
FOLDERS = [path for path in CASES if path.is_dir()]
MANIFESTS = [path for path in CASES if path.suffix == ".yaml" and path.name.startswith("LW5")]
LIMIT = 3.0
"""Seconds for 5,000 lines of manifests."""


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_order_of_files_does_not_matter(folder: Path) -> None:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "findings"]
    context = said(files)
    found = {check_all(Inputs(tuple(order), context=context)).findings for order in (files, files[::-1])}
    # Which of two manifests of one name is the second one is what their order says.
    assert len(found) == 1 or "LW608" in folder.name


@pytest.mark.parametrize("case", MANIFESTS, ids=lambda path: path.stem)
def test_the_order_of_keys_does_not_matter(case: Path, tmp_path: Path) -> None:
    def shuffled(value: object) -> object:
        if not isinstance(value, dict):
            return value
        keys = list(value)
        random.Random(1).shuffle(keys)  # noqa: S311 - no secret
        return {key: shuffled(value[key]) for key in keys}

    text = case.read_text().partition(MARK)[0]
    file = tmp_path / "class.yaml"
    found = []
    for written in (text, yaml.safe_dump(shuffled(yaml.safe_load(text)), sort_keys=False)):
        file.write_text(written)
        found.append(
            sorted((item.rule, item.path) for item in check_all(Inputs((file,), context=said([file]))).findings)
        )
    assert found[0] == found[1]


def test_a_large_folder_is_checked_in_seconds(tmp_path: Path) -> None:
    text = next(path for path in MANIFESTS if "wrong" in path.name).read_text().partition(MARK)[0]
    each = text.count("\n") + 1
    documents = [text.replace("windows-2022", f"windows-{number}") for number in range(5000 // each + 1)]
    for number in range(0, len(documents), 40):
        (tmp_path / f"{number}.yaml").write_text("---\n".join(documents[number : number + 40]))
    start = time.process_time()
    found = check_all(Inputs((tmp_path,)))
    assert time.process_time() - start < LIMIT
    assert found.classes == len(documents)
    assert len(found.findings) == len(documents)
