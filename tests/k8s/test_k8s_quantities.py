from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lockstep.k8s.quantities import QuantityError, canonical, parse, problem, to_bytes, to_mebibytes

CASES = yaml.load(
    (Path(__file__).parent / "cases" / "quantities.yaml").read_text(encoding="utf-8"),
    Loader=yaml.BaseLoader,  # noqa: S506 - reads everything as text, whatever it looks like
)


@pytest.mark.parametrize(("text", "value"), CASES["values"].items())
def test_a_quantity_has_its_exact_value(text: str, value: str) -> None:
    assert parse(text) == Decimal(value)


@pytest.mark.parametrize(("text", "stored"), CASES["canonical"].items())
def test_the_form_that_the_api_server_stores(text: str, stored: str) -> None:
    assert canonical(text) == stored


@pytest.mark.parametrize("text", CASES["refused"])
def test_what_is_no_quantity(text: str) -> None:
    with pytest.raises(QuantityError):
        parse(text)


@pytest.mark.parametrize(("text", "meant"), CASES["hints"].items())
def test_a_slip_in_the_suffix_is_named(text: str, meant: str) -> None:
    assert str(problem(text)).endswith(f"perhaps {meant}")


def test_memory_in_bytes_and_mebibytes() -> None:
    assert to_bytes("2Gi") == 2 * 1024**3
    assert to_mebibytes("2Gi") == 2048
    assert to_mebibytes("2147483648") == 2048
    with pytest.raises(QuantityError, match="expected such as 1908Mi"):
        to_mebibytes("2G")
    with pytest.raises(QuantityError, match="whole number of bytes"):
        to_bytes("100m")


def test_a_negative_quantity_is_none_that_a_pod_may_ask_for() -> None:
    assert problem("-1") == "'-1' is negative: expected a quantity of zero or more"
    assert problem("0") is None


SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "e0", "e3", "E-2", "e+5"]
numbers = st.from_regex(r"[+-]?([0-9]{1,6}(\.[0-9]{0,6})?|\.[0-9]{1,6})", fullmatch=True)


@given(numbers, st.sampled_from(SUFFIXES))
def test_the_stored_form_has_the_same_value_and_is_stored_as_it_is(number: str, suffix: str) -> None:
    stored = canonical(number + suffix)
    assert parse(stored) == parse(number + suffix)
    assert canonical(stored) == stored
    assert "." not in stored


@given(st.text(alphabet="0123456789.+-eEKMGTPimunk ", max_size=12))
def test_any_text_is_a_quantity_or_refused_with_a_reason(text: str) -> None:
    reason = problem(text)
    if reason is None:
        assert parse(text) >= 0
    else:
        assert "expected" in reason or "too large" in reason
