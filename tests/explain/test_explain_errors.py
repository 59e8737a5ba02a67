"""Error texts are recognized as they were really said, in whatever was pasted around them."""

import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.knowledge import errors, rules, terms
from lockstep.knowledge.errors import Error
from lockstep.knowledge.lookup import Found, NotFound, lookup
from lockstep.report.explain import explain, unknown

PASTED = yaml.safe_load((Path(__file__).parent / "pasted.yaml").read_text())
EVERY = errors.errors()
SOURCE = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+|[\w.-]+[/ ].+")


def first(text: str) -> str:
    found = lookup(text)
    assert isinstance(found, Found), text
    return found.errors[0].key


def test_there_are_enough_real_texts() -> None:
    said = [text for error in EVERY for text in error.said]
    assert len(EVERY) >= 25
    assert len({text.text for text in said}) == len(said)
    assert sum(text.source.startswith("https://") for text in said) >= 40


@pytest.mark.parametrize("error", EVERY, ids=lambda error: error.key)
def test_entry_is_whole(error: Error) -> None:
    assert error.causes
    for source in (*error.sources, *(said.source for said in error.said)):
        assert SOURCE.fullmatch(source), source
    for cause in error.causes:
        assert cause.tell
        for sentence in (cause.cause, cause.change):
            assert isinstance(sentence, str)
        assert all(isinstance(tell, str) for tell in cause.tell)
    for word in error.see:
        assert isinstance(lookup(word), Found), word


@pytest.mark.parametrize("error", EVERY, ids=lambda error: error.key)
def test_what_was_said_is_recognized(error: Error) -> None:
    for said in error.said:
        assert first(said.text) == error.key
    everything = errors.normalized(" ".join([error.name or "", *(said.text for said in error.said)]))
    matching = [pattern for pattern in error.patterns if re.search(pattern, everything)]
    assert matching, "no pattern is in any text that was said"


@pytest.mark.parametrize("case", PASTED, ids=lambda case: f"{case['key']}-{case['source'][-24:]}")
def test_pasted(case: dict[str, Any]) -> None:
    assert first(case["text"]) == case["key"]
    assert first("  " + case["text"].upper().replace("\\", "") + "\n") == case["key"]


@given(st.sampled_from(EVERY), st.text(alphabet=" \n\tabc:{}()", max_size=30), st.text(max_size=30))
@settings(max_examples=60, deadline=None)
def test_surroundings_do_not_hide_a_text(error: Error, before: str, after: str) -> None:
    found = errors.recognized(f"{before} {error.said[0].text} {after}")
    assert error in found


@given(st.text(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_text_is_answered(text: str) -> None:
    found = lookup(text)
    shown = unknown(text, found, 80) if isinstance(found, NotFound) else explain(found, 80)
    assert shown.endswith("\n")


def test_a_long_text_is_answered_in_time() -> None:
    text = "time=2026 level=error msg=hcs::CreateComputeSystem failed in Win32 had taint pod {" * 20_000
    begun = time.perf_counter()
    lookup(text)
    assert time.perf_counter() - begun < 2


def test_an_unknown_text_names_the_nearest() -> None:
    found = lookup("the container of the pod exited with a virtual machine that went away unexpectedly")
    assert isinstance(found, NotFound)
    assert "unexpected-exit" in [error.key for error in found.errors]
    assert lookup("handlr") == NotFound(words=("handler",), errors=())
    assert isinstance(lookup("LW2100"), NotFound)
    assert lookup("qwertz") == NotFound()


@pytest.mark.parametrize(
    "text",
    [
        "the node is broken and my web server does not answer",
        "my pod is slow",
        "hello world this is a text about cooking",
        "cannot connect to the database server: connection refused",
        "dns lookup of a name in the other cluster was too slow",
        "runhcs-foobar",
    ],
)
def test_little_in_common_is_not_near(text: str) -> None:
    found = lookup(text)
    assert found == NotFound()
    assert "Nothing is near." in unknown(text, found, 80)


def test_terms_are_whole_and_found_by_every_word() -> None:
    words = [word.lower() for term in terms.terms() for word in term.words]
    assert len(set(words)) == len(words) >= 60
    for term in terms.terms():
        assert term.text
        for word in term.words:
            assert lookup(word) == lookup(word.upper()) == Found(term=term)
        for word in term.see:
            assert isinstance(lookup(word), Found), (term.words[0], word)


def test_pages_and_texts_point_at_ids_that_exist() -> None:
    folder = Path(errors.__file__).parent
    for path in (*folder.rglob("*.md"), *folder.rglob("*.yaml")):
        for rule in re.findall(r"LW\d{3}", path.read_text(encoding="utf-8")):
            assert rule in rules.rules(), f"{path.name} names {rule}"


@pytest.mark.parametrize("width", [80, 60])
def test_explanations_fit_their_width(width: int) -> None:
    for found in (*(Found(errors=(error,)) for error in EVERY), *(Found(term=term) for term in terms.terms())):
        for line in explain(found, width).splitlines():
            unbreakable = max(map(len, line.split()), default=0) + 11 > width
            assert len(line) <= width or unbreakable or line.startswith("    "), line
