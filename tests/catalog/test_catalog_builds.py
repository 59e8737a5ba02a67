from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lockstep.catalog.builds import Build, UnknownBuild, known, resolve, similar
from lockstep.catalog.versions import Version, VersionError

CASES = Path(__file__).parent / "cases"


def case(name: str) -> Any:
    return yaml.safe_load((CASES / f"{name}.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "number"), case("build-words").items())
def test_a_word_means_its_build(text: str, number: int) -> None:
    assert resolve(text).number == number


@pytest.mark.parametrize(("text", "suggestion"), case("build-slips").items())
def test_a_slip_is_refused_with_the_word_that_was_meant(text: str, suggestion: str | None) -> None:
    with pytest.raises(UnknownBuild) as caught:
        resolve(text)
    assert caught.value.suggestion == suggestion
    assert f"'{text.strip()}'" in caught.value.message


@pytest.mark.parametrize(("number", "build"), [(1903, 18362), (1809, 17763), (2004, 19041), (20348, 20348)])
def test_a_number_without_quotes_is_understood(number: int, build: int) -> None:
    assert resolve(number).number == build


@pytest.mark.parametrize("value", [True, None, 1.5, ["ltsc2022"], b"ltsc2022"])
def test_other_types_are_refused(value: Any) -> None:
    with pytest.raises(UnknownBuild):
        resolve(value)


def test_the_revision_is_kept_and_never_compared() -> None:
    patched = resolve("10.0.20348.2582")
    assert patched.revision == 2582
    assert patched == resolve("ltsc2022")
    assert len({patched, resolve("ltsc2022")}) == 1


@pytest.mark.parametrize(
    ("number", "label", "alias", "product"),
    [
        (17763, "10.0.17763", "ltsc2019", "Windows Server 2019"),
        (20348, "10.0.20348", "ltsc2022", "Windows Server 2022"),
        (25398, "10.0.25398", "23H2", "Windows Server, version 23H2"),
        (26100, "10.0.26100", "ltsc2025", "Windows Server 2025"),
        (22621, "10.0.22621", "22621", "Windows 11, version 22H2"),
        (29500, "10.0.29500", "29500", "Windows build 29500"),
    ],
)
def test_a_build_has_a_label_an_alias_and_a_product(number: int, label: str, alias: str, product: str) -> None:
    build = Build(number)
    assert (build.label, build.alias, build.product) == (label, alias, product)


@pytest.mark.parametrize(("number", "listed"), [(20384, 20348), (25389, 25398), (26491, None), (29500, None)])
def test_an_unlisted_number_may_be_a_slip(number: int, listed: int | None) -> None:
    assert similar(Build(number)) == (listed and Build(listed))


def test_support_ends_when_microsoft_says() -> None:
    ends = {
        14393: (date(2022, 1, 11), date(2027, 1, 12)),
        17763: (date(2024, 1, 9), date(2029, 1, 9)),
        19042: (date(2022, 8, 9), None),
        20348: (date(2026, 10, 13), date(2031, 10, 14)),
        25398: (date(2026, 5, 12), None),
        26100: (date(2029, 11, 13), date(2034, 11, 14)),
    }
    assert {number: (known()[number].mainstream_end, known()[number].extended_end) for number in ends} == ends


def test_every_entry_is_whole_and_no_word_means_two_builds() -> None:
    words = [word.lower() for facts in known().values() for word in facts.words]
    assert len(words) == len(set(words))
    assert list(known()) == sorted(known())
    for facts in known().values():
        assert facts.source
        assert facts.channel in {"LTSC", "SAC", "AC", "client"}
        assert (facts.released is None) == (facts.channel == "client")
        assert not facts.base_images or facts.aliases


@given(st.one_of(st.text(max_size=30), st.integers()))
def test_anything_is_a_build_or_refused(value: str | int) -> None:
    try:
        build = resolve(value)
    except UnknownBuild as error:
        assert error.suggestion is None or resolve(error.suggestion)  # noqa: PT017 - a refusal is no failure here
    else:
        assert resolve(build.label) == resolve(build.alias) == build


def test_versions_are_ordered_as_semver_orders_them() -> None:
    # The example of semver.org, item 11.
    texts = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11"]
    texts += ["1.0.0-rc.1", "1.0.0", "1.0.2", "1.0.10", "1.2.0", "1.10.0", "2.0.0"]
    ordered = sorted(map(Version.parse, reversed(texts)))
    assert [str(version) for version in ordered] == texts


@pytest.mark.parametrize(("text", "minor"), [("v1.36.1", "1.36"), ("1.32.1+rke2r1", "1.32"), ("2.4.0-beta.0", "2.4")])
def test_a_version_has_a_minor(text: str, minor: str) -> None:
    assert Version.parse(text).minor_text == minor


@pytest.mark.parametrize(
    "text", ["1.36", "1", "", "1.36.1.2", "01.2.3", "1.2.x", "1.2.3-", "latest", "1.2.3\n", "\uff11.2.3"]
)
def test_less_than_a_full_version_is_refused(text: str) -> None:
    with pytest.raises(VersionError, match=r"expected major\.minor\.patch"):
        Version.parse(text)
