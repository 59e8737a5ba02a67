"""`lockstep can-run`: answers and exit statuses, as a user asks for them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockstep.catalog.builds import Build
from lockstep.catalog.compatibility import can_run
from lockstep.cli import main

CASES = yaml.safe_load((Path(__file__).parent / "can-run.yaml").read_text())


def ask(arguments: str) -> int:
    try:
        return main(["can-run", *arguments.split()])
    except SystemExit as error:  # argparse ends the program itself
        return int(error.code or 0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["arguments"])
def test_answers(case: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(case["arguments"]) == case["exit"]
    said = capsys.readouterr()
    shown = " ".join((said.err if case["exit"] == 2 else said.out).split())
    for words in case["says"]:
        assert words in shown
    for words in case.get("not", ()):
        assert words not in shown
    if case["exit"] < 2:
        assert max(map(len, said.out.splitlines())) <= 80


@pytest.mark.parametrize("case", [case for case in CASES if case["exit"] < 2], ids=lambda case: case["arguments"])
def test_data_says_the_same_and_what_is_nearest_works(case: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(f"{case['arguments']} --format json") == case["exit"]
    data = json.loads(capsys.readouterr().out)
    assert data["runs"] is (case["exit"] == 0)
    said = [word.removeprefix("warning ") for word in case["says"] if word.startswith("warning ")]
    assert [warned["rule"] for warned in data["warnings"]] == said
    typed = case["arguments"].split()
    for key in ("guest", "host"):
        word = typed[typed.index(f"--{key}") + 1]
        assert data["asked"][key] == word or not word.startswith("10.0.")
    assert data["nearest"] if case["exit"] else not data["nearest"]
    for other in data["nearest"]:
        builds = {key: Build(int(other[key].split(".")[2])) for key in ("host", "guest", "pool_guest") if other[key]}
        assert can_run(isolation=other["isolation"], containerd=data["containerd"], **builds).ok
