"""Resource quantities: `500m`, `2Gi`, `1e3`.

Source: k8s.io/apimachinery pkg/api/resource `Quantity`, `ParseQuantity`, `CanonicalizeBytes`.
"""

from __future__ import annotations

import re
from decimal import ROUND_UP, Context, Decimal
from typing import Literal

from lockstep.words import shortened

_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_FORM = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([KMGTPE]i)|([numkMGTPE]?)|[eE]([+-]?[0-9]+))")
_LARGEST = 2**63 - 1
_LONGEST = 64
_EXPONENTS = range(-64, 65)
_EXACT = Context(prec=200)
_NANO = Decimal(1).scaleb(-9)
_STEP = 3
_KIBI = 1024
_EXAMPLES = "a number with a suffix such as 500m, 2, 512Mi or 2Gi"

_Format = Literal["binary", "decimal", "exponent"]


class QuantityError(ValueError):
    """Text that is no quantity, or not the one that is needed; the message says what was expected."""


def parse(text: str) -> Decimal:
    """Return the exact value, in cores or bytes or whatever the resource counts.

    What is finer than a billionth is rounded up to one, as the API server does. Raises QuantityError.
    """
    return _read(text)[0]


def problem(text: str) -> str | None:
    """Return why `text` is no quantity of something that a pod may ask for (not negative), or None where it is."""
    try:
        value = parse(text)
    except QuantityError as error:
        return str(error)
    return f"'{shortened(text)}' is negative: expected a quantity of zero or more" if value < 0 else None


def to_bytes(text: str) -> int:
    """Return a memory quantity in bytes; raises QuantityError where it is not a whole number of them."""
    value = parse(text)
    if value != value.to_integral_value():
        raise QuantityError(f"'{shortened(text)}' is not a whole number of bytes: expected memory such as 512Mi or 2Gi")
    return int(value)


def to_mebibytes(text: str) -> int:
    """Return a memory quantity in Mi (1,048,576 bytes); raises QuantityError where it is not a whole number of them."""
    whole, rest = divmod(to_bytes(text), _KIBI**2)
    if rest:
        raise QuantityError(f"'{shortened(text)}' is not a whole number of mebibytes: expected such as {whole + 1}Mi")
    return whole


def canonical(text: str) -> str:
    """Return the form that the API server stores and gives back: `0.1` is `100m`, `1024Mi` is `1Gi`.

    A manifest in any other form differs from its own object for ever. Raises QuantityError.
    """
    value, form = _read(text)
    if form == "binary" and abs(value) >= _KIBI and value == value.to_integral_value():
        number, power = _factor_out(int(value), _KIBI, len(_BINARY))
        return f"{number}{next((suffix for suffix, step in _BINARY.items() if step == power), '')}"
    sign, digits, scale = value.as_tuple()
    number = int("".join(map(str, digits)))
    exponent = int(scale)
    lower = exponent - exponent % _STEP
    number, steps = _factor_out(number * 10 ** (exponent - lower), 10**_STEP, (_DECIMAL["E"] - lower) // _STEP)
    exponent = lower + steps * _STEP if number else 0
    prefix = "-" if sign and number else ""
    if form == "exponent":
        return f"{prefix}{number}e{exponent}" if exponent else f"{prefix}{number}"
    return f"{prefix}{number}{next(suffix for suffix, power in _DECIMAL.items() if power == exponent)}"


def _read(text: str) -> tuple[Decimal, _Format]:
    match = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise QuantityError(f"'{shortened(text)}' is no quantity: expected {_EXAMPLES}{_near(text)}")
    number, binary, decimal, exponent = match.groups()
    power = int(exponent or 0)
    if power not in _EXPONENTS:
        raise QuantityError(f"'{shortened(text)}' is out of range: expected {_EXAMPLES}")
    value, form = _scaled(Decimal(number), binary, decimal, power if exponent else None)
    if form == "binary" and abs(value) > _LARGEST:
        raise QuantityError(f"'{shortened(text)}' is too large: the API server would read it as 2^63-1")
    return value.quantize(_NANO, rounding=ROUND_UP, context=_EXACT).normalize(_EXACT), form


def _scaled(number: Decimal, binary: str | None, decimal: str | None, power: int | None) -> tuple[Decimal, _Format]:
    if binary:
        return _EXACT.multiply(number, Decimal(_KIBI ** _BINARY[binary])), "binary"
    if power is not None:
        return number.scaleb(power, _EXACT), "exponent"
    return number.scaleb(_DECIMAL[decimal or ""], _EXACT), "decimal"


_FRACTIONS = ("n", "u", "m")


def _near(text: str) -> str:
    """Return a hint where only the suffix's letter case or a space or a `B` is wrong."""
    match = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]+)\s*", text)
    if not match:
        return ""
    number, suffix = match.groups()
    wanted = suffix.lower().removesuffix("b")
    for known in (*_BINARY, *_DECIMAL):
        # Who writes a `b` means bytes: 512MB is 512M, not the thousandths of 512m.
        if suffix[-1] in "bB" and known in _FRACTIONS:
            continue
        if known and known.lower() == wanted and _FORM.fullmatch(f"{number}{known}"):
            return f", perhaps {number}{known}"
    return ""


def _factor_out(number: int, factor: int, most: int) -> tuple[int, int]:
    """Return the number without the factor, and how often it was in there, `most` times at most."""
    times = 0
    while number and times < most and number % factor == 0:
        number //= factor
        times += 1
    return number, times
