"""Words for builds as people write them: versions, products, tags of images."""

import argparse
import contextlib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.catalog.builds import Build, known
from lockstep.cli import words

CASES = yaml.safe_load((Path(__file__).parent / "words.yaml").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["word"])
def test_build(case: dict[str, Any]) -> None:
    if "number" in case:
        found = words.build(case["word"])
        assert (found.number, found.revision) == (case["number"], case.get("revision"))
        return
    with pytest.raises(argparse.ArgumentTypeError) as refused:
        words.build(case["word"])
    for said in case["says"]:
        assert said in str(refused.value)


@pytest.mark.parametrize("number", known())
def test_every_build_is_found_by_what_messages_call_it(number: int) -> None:
    build = Build(number)
    assert words.build(build.product) == words.build(f"image:{build.label}") == build


@given(st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_word_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(argparse.ArgumentTypeError):
        assert isinstance(words.build(text), Build)
