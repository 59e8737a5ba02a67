"""Names and types of KubeletConfiguration fields, by minor: what kubelet's decoder refuses, and what it passes over.

Source: kubernetes/kubernetes pkg/kubelet/kubeletconfig/util/codec (strict decoding that falls back to lenient: an
unknown or misspelt field is only logged) and encoding/json (a value of another type is an error in both).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from lockstep.catalog.kubernetes import Minor, all_fields, since
from lockstep.finding import DataPath, Severity
from lockstep.k8s import quantities
from lockstep.kubelet.problem import Problem
from lockstep.words import nearest

UNKNOWN_FIELD = "LW301"
OTHER_MINOR = "LW302"
WRONG_TYPE = "LW303"

_DURATION = re.compile(r"([-+]?)((?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+", re.ASCII)
_PART = re.compile(r"([0-9.]+)(ns|us|µs|μs|ms|s|m|h)")
_SECONDS = {"ns": "1e-9", "us": "1e-6", "µs": "1e-6", "μs": "1e-6", "ms": "1e-3", "s": "1", "m": "60", "h": "3600"}
_EXPECTED = {
    "string": "text",
    "bool": "true or false",
    "int": "a whole number",
    "number": "a number",
    "duration": "a duration such as 10s, in text",
    "duration-or-int": "a duration such as 10s, or nanoseconds",
    "quantity": "a quantity such as 500m or 2Gi",
}


def duration(text: Any) -> Decimal | None:
    """Return a Go duration (`1m30s`) in seconds, None where it is none. Source: golang/go time.ParseDuration."""
    if not isinstance(text, str):
        return None
    if text in ("0", "+0", "-0"):
        return Decimal(0)
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    total = sum((Decimal(number) * Decimal(_SECONDS[unit]) for number, unit in _PART.findall(text)), Decimal(0))
    return -total if match[1] == "-" else total


def check_shape(fields: Mapping[str, Any], facts: Minor, passed_over: Severity) -> Iterator[Problem]:
    """Yield what is unknown, not in this minor or of a wrong type; what kubelet ignores has severity `passed_over`."""
    yield from _struct(fields, "KubeletConfiguration", (), facts, passed_over)


def _struct(value: Any, type_name: str, path: DataPath, facts: Minor, passed_over: Severity) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield _wrong(path, value, "a mapping")
        return
    known = facts.types[type_name]
    for name, item in value.items():
        here = (*path, name)
        if name not in known:
            yield _unknown(name, type_name, here, facts, passed_over)
        elif item is not None:
            yield from _value(item, known[name].type, here, facts, passed_over)


def _value(value: Any, kind: str, path: DataPath, facts: Minor, passed_over: Severity) -> Iterator[Problem]:
    if kind in facts.types:
        yield from _struct(value, kind, path, facts, passed_over)
    elif kind.startswith(("[]", "map:")):
        yield from _collection(value, kind, path, facts, passed_over)
    elif not _fits(value, kind):
        yield _wrong(path, value, _EXPECTED[kind])


def _collection(value: Any, kind: str, path: DataPath, facts: Minor, passed_over: Severity) -> Iterator[Problem]:
    inner = kind.removeprefix("[]") if kind.startswith("[]") else kind.removeprefix("map:")
    parts: Iterable[tuple[str | int, Any]]
    if kind.startswith("[]") and isinstance(value, list | tuple):
        parts = enumerate(value)
    elif kind.startswith("map:") and isinstance(value, Mapping):
        parts = value.items()
    else:
        yield _wrong(path, value, "a list" if kind.startswith("[]") else "a mapping")
        return
    for name, item in parts:
        if item is not None:
            yield from _value(item, inner, (*path, name), facts, passed_over)


def _fits(value: Any, kind: str) -> bool:
    number = isinstance(value, int) and not isinstance(value, bool)
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "int":
        return number
    if kind == "number":
        return number or isinstance(value, float)
    if kind == "string":
        return isinstance(value, str)
    if kind == "quantity":
        return number or (isinstance(value, str) and quantities.problem(value) is None)
    return duration(value) is not None or (kind == "duration-or-int" and number)


def _wrong(path: DataPath, value: Any, expected: str) -> Problem:
    message = f"{dotted(path)} is {shown(value)}: expected {expected}"
    quotes = expected in (_EXPECTED["string"], _EXPECTED["duration"]) and not isinstance(value, list | tuple | Mapping)
    fix = "put it in quotes" if quotes and not isinstance(value, str) else None
    return Problem(WRONG_TYPE, Severity.ERROR, path, message, fix)


def _unknown(name: Any, type_name: str, path: DataPath, facts: Minor, passed_over: Severity) -> Problem:
    if name in all_fields(type_name):
        first = since(type_name, name)
        when = f"it came with {first}" if first and name not in facts.types[type_name] else "it was removed"
        message = f"{dotted(path)} is no field of KubeletConfiguration in {facts.name}, so kubelet ignores it: {when}"
        return Problem(OTHER_MINOR, passed_over, path, message, "leave it out for this release")
    near = nearest(str(name), facts.types[type_name])
    message = f"{dotted(path)} is no field of KubeletConfiguration, so kubelet ignores it"
    hint = f"did you mean '{near}'?" if near else None
    return Problem(UNKNOWN_FIELD, passed_over, path, message, None if near else "leave it out", hint)


def dotted(path: DataPath) -> str:
    """Return a path as people write it: `registerWithTaints[0].key`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def shown(value: Any) -> str:
    """Return a value as it would be written in YAML, shortened."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"'{value}'" if isinstance(value, str) else str(value)
