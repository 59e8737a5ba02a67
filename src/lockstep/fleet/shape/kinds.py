"""The kinds of single values in a description: what each accepts, what it says to what it refuses, its JSON Schema.

Nothing is coerced silently. A number or truth value counts only where what was written can mean one thing; everything
else that YAML 1.1 read as something other than text is refused with the advice to quote it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from lockstep.catalog import builds, versions
from lockstep.fleet.own_labels import DOMAIN
from lockstep.fleet.shape import refusal
from lockstep.fleet.shape.refusal import Refused
from lockstep.k8s import labels, names, quantities
from lockstep.k8s.taints import EFFECTS
from lockstep.words import nearest, shortened

Raw = str | None
"""An unquoted scalar's text as written; None where it was quoted, comes from a template, or is no scalar."""

LARGEST_INT32 = 2**31 - 1


_SORTS: tuple[tuple[type, str], ...] = (
    (bool, "a truth value"),
    (int, "a number"),
    (float, "a number"),
    (str, "text"),
    (date, "a date"),
    (Mapping, "a mapping"),
    (object, "a list"),
)

_DECIMAL = re.compile(r"[0-9]+\.[0-9]+")
_IMAGE = re.compile(
    r"(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?",
)
_LABEL_VALUE_PATTERN = r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of single value. `read` returns the value to go on with, or raises Refused."""

    expected: str
    read: Callable[[Any, Raw], Any]
    schema: Callable[[], Mapping[str, Any]]


def written(value: Any, raw: Raw) -> str:
    """Return a value as its author sees it."""
    if raw is not None:
        return shortened(raw)
    if isinstance(value, bool):
        return str(value).lower()
    return shortened(str(value))


def sort_of(value: Any) -> str:
    """Return what a value is, in a person's words."""
    return "nothing" if value is None else next(words for kind, words in _SORTS if isinstance(value, kind))


def wrong_type(value: Any, expected: str) -> Refused:
    """Return the refusal of a value that is another sort of thing altogether."""
    return Refused(refusal.WRONG_TYPE, f"{sort_of(value)} where {expected} is needed", f"expected {expected}")


def needs_quotes(value: Any, raw: Raw) -> Refused:
    """Return the refusal of a truth value, number or date where text is needed."""
    shown = written(value, raw)
    if raw is None:
        hint = "write it in quotes; a template becomes text with | string"
        return Refused(refusal.NEEDS_QUOTES, f"{shown} is {sort_of(value)}, not text", hint)
    as_read = "" if shown.lower() == str(value).lower() or isinstance(value, date) else f"{str(value).lower()}, "
    return Refused(
        refusal.NEEDS_QUOTES,
        f"{shown} without quotes is {as_read}{sort_of(value)}, not text",
        f'write it in quotes: "{shown}"',
    )


def text(value: Any, raw: Raw, expected: str = "text") -> str:
    """Return text; raises Refused for everything that YAML does not read as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float | date):
        raise needs_quotes(value, raw)
    raise wrong_type(value, expected)


def meant_by(value: Any, raw: Raw, expected: str, accept: Callable[[str], Any]) -> Any:
    """Return what `accept` makes of text, or raise what it refuses.

    For a truth value, number or date that would be accepted in quotes, raises the advice to write them.
    """
    try:
        content = text(value, raw, expected)
    except Refused as refused:
        if refused.rule == refusal.NEEDS_QUOTES and raw is not None:
            refused.instead = accept(raw)
        raise
    return accept(content)


def text_kind(
    expected: str,
    rule: str,
    problem: Callable[[str], str | None],
    schema: Mapping[str, Any],
) -> Kind:
    """Return a kind of text; `problem` returns what is wrong with one, or raises Refused where it knows better."""

    def checked(content: str) -> str:
        if message := problem(content):
            raise _split(rule, message)
        return content

    return Kind(
        expected,
        lambda value, raw: meant_by(value, raw, expected, checked),
        lambda: {"type": "string", **schema},
    )


def word_kind(expected: str, words: tuple[str, ...]) -> Kind:
    """Return a kind of text that is one of a few words."""

    def known(content: str) -> str:
        if content in words:
            return content
        near = nearest(content, words)
        hint = f"did you mean '{near}'?" if near else f"expected {expected}"
        message = f"'{shortened(content)}' is not {expected}"
        raise Refused(refusal.UNKNOWN_WORD, message, hint, instead=near or refusal.INVALID)

    return Kind(expected, lambda value, raw: meant_by(value, raw, expected, known), lambda: {"enum": list(words)})


def _split(rule: str, message: str) -> Refused:
    """Return a refusal from a problem's text: what comes after ': expected' is the hint."""
    what, found, expected = message.partition(": expected ")
    return Refused(rule, what, f"expected {expected}" if found else None)


def _build(value: Any, raw: Raw) -> builds.Build:
    if isinstance(value, int) and not isinstance(value, bool) and raw in (None, str(value)):
        return _resolved(value)
    build: builds.Build = meant_by(value, raw, "a Windows build", _resolved)
    return build


def _resolved(content: str | int) -> builds.Build:
    try:
        return builds.resolve(content)
    except builds.UnknownBuild as error:
        if error.suggestion is None:
            hint = "expected an alias (ltsc2022), a build number (20348) or a full version (10.0.20348)"
            raise Refused(refusal.UNKNOWN_BUILD, shortened(error.message, 160), hint) from error
        meant = builds.resolve(error.suggestion)
        hint = f"did you mean '{error.suggestion}' ({meant.product}, {meant.label})?"
        raise Refused(refusal.UNKNOWN_BUILD, error.message, hint, instead=meant) from error


def _build_schema() -> Mapping[str, Any]:
    words = [word for facts in builds.known().values() for word in facts.words]
    either_case = "|".join("".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else c for c in word) for word in words)
    return {
        "anyOf": [
            {"enum": words},
            {"type": "string", "pattern": rf"^\s*({either_case}|[0-9]{{5}}|10\.0\.[0-9]{{5}}(\.[0-9]{{1,6}})?)\s*$"},
            {"enum": [int(word) for word in words if word.isdigit()]},
            {"type": "integer", "minimum": 10000, "maximum": 65535},
        ],
    }


def _version(value: Any, raw: Raw) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        shown = written(value, raw)
        number = f"the number {value}" if shown != str(value) else "a number"
        example = f"{shown}.0" if raw and _DECIMAL.fullmatch(shown) else "1.36.1"
        raise Refused(
            refusal.NEEDS_QUOTES,
            f"{shown} without quotes is {number}, not a version",
            f'write the full version in quotes, such as "{example}"',
        )
    version: str = meant_by(value, raw, "a version", _parsed)
    return version


def _parsed(content: str) -> str:
    try:
        return str(versions.Version.parse(content))
    except versions.VersionError as error:
        if re.fullmatch(r"v?[0-9]+\.[0-9]+", content):
            raise Refused(
                refusal.NO_VERSION,
                f"'{shortened(content)}' lacks its patch number",
                f"expected a full version, such as {content.removeprefix('v')}.0",
            ) from error
        raise _split(refusal.NO_VERSION, str(error)) from error


def _quantity(value: Any, raw: Raw) -> str:
    plain = raw is None or raw == str(value) or (isinstance(value, float) and _DECIMAL.fullmatch(raw))
    if isinstance(value, int | float) and not isinstance(value, bool) and plain:
        return _measured(raw or str(value))
    quantity: str = meant_by(value, raw, "a quantity such as 512Mi or 100m", _measured)
    return quantity


def _measured(content: str) -> str:
    if message := quantities.problem(content):
        raise _split(refusal.NO_QUANTITY, message)
    return content


def _mebibytes(value: Any, raw: Raw) -> int:
    content = _quantity(value, raw)
    hint = "expected a whole number of Mi, such as 2Gi or 2048Mi"
    try:
        mebibytes = quantities.to_mebibytes(content)
    except quantities.QuantityError as error:
        raise Refused(refusal.OUT_OF_RANGE, f"a utility VM cannot have {content} bytes of memory", hint) from error
    if not 0 < mebibytes <= LARGEST_INT32:
        raise Refused(refusal.OUT_OF_RANGE, f"a utility VM cannot have {content} bytes of memory", hint)
    return mebibytes


def _count(value: Any, raw: Raw) -> int:
    expected = "a whole number, 1 or more"
    if isinstance(value, str) and value.isascii() and value.isdigit():
        hint = f"write it without quotes: {int(value)}"
        raise Refused(refusal.WRONG_TYPE, f"'{value}' in quotes is text, not a number", hint, instead=int(value) or 1)
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong_type(value, expected)
    if raw not in (None, str(value)):
        hint = "write it as a decimal number"
        raise Refused(refusal.NEEDS_QUOTES, f"{shortened(raw)} means {value} in YAML", hint, instead=value)
    if not 1 <= value <= LARGEST_INT32:
        raise Refused(refusal.OUT_OF_RANGE, f"{value} is out of range", f"expected {expected}")
    return value


def _pool_name_problem(content: str) -> str | None:
    if not content:
        return "a pool needs a name: expected one of 63 characters at most"
    problem = labels.value_problem(content)
    return problem and problem.replace("is no label value", "is no pool name").replace(", or nothing", "")


def _object_label_problem(key: str) -> str | None:
    if problem := labels.key_problem(key):
        raise _split(refusal.NO_LABEL, problem)
    if labels.within(key, DOMAIN):
        return f"labels under {DOMAIN} are the product's own: expected another prefix"
    return None


def _node_label_problem(key: str) -> str | None:
    if problem := _object_label_problem(key):
        return problem
    if key in labels.SET_BY_KUBELET:
        return f"kubelet sets '{key}' itself: expected another key"
    return labels.kubelet_label_problem(key)


_RESOURCES = ("cpu", "memory", "ephemeral-storage")


def _resource_problem(name: str) -> str | None:
    if name in _RESOURCES:
        return None
    if "/" in name:
        return labels.key_problem(name)
    near = nearest(name, _RESOURCES)
    expected = (
        f"'{near}'" if near else "cpu, memory, ephemeral-storage, or a name with a domain such as example.com/gpu"
    )
    return f"'{shortened(name)}' is no resource: expected {expected}"


def _image_problem(content: str) -> str | None:
    if _IMAGE.fullmatch(content):
        return None
    return f"'{shortened(content)}' is no image reference: expected one such as registry.k8s.io/pause:3.10.2"


def _group_problem(content: str) -> str | None:
    if content and not re.search(r"[\s:\[\],!&]", content):
        return None
    return f"'{shortened(content)}' is no inventory group's name: expected one without spaces and without :[],!&"


def _any(_: str) -> None:
    return None


_KEY_PATTERN = {"pattern": r"^([^/]{1,253}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"}
_DNS_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"

BUILD = Kind("a Windows build", _build, _build_schema)
VERSION = Kind(
    "a full version in quotes",
    _version,
    lambda: {"type": "string", "pattern": r"^v?[0-9]+\.[0-9]+\.[0-9]+([-+][-+.0-9A-Za-z]+)?$"},
)
QUANTITY = Kind(
    "a Kubernetes quantity",
    _quantity,
    lambda: {"anyOf": [{"type": "string", "pattern": r"^\+?([0-9]|\.[0-9])"}, {"type": "number", "minimum": 0}]},
)
MEMORY = Kind(
    "memory such as 2Gi",
    _mebibytes,
    lambda: {"anyOf": [{"type": "string", "pattern": r"^\+?([0-9]|\.[0-9])"}, {"type": "integer", "minimum": 2**20}]},
)
COUNT = Kind(
    "a whole number",
    _count,
    lambda: {"type": "integer", "minimum": 1, "maximum": LARGEST_INT32},
)
ISOLATION = word_kind("process or hyperv", ("process", "hyperv"))
EFFECT = word_kind("NoSchedule, PreferNoSchedule or NoExecute", EFFECTS)
OPERATOR = word_kind("Equal or Exists", ("Equal", "Exists"))
TEXT = text_kind("text", refusal.WRONG_TYPE, _any, {})
POOL_NAME = text_kind(
    "a pool's name",
    refusal.NO_NAME,
    _pool_name_problem,
    {"pattern": _LABEL_VALUE_PATTERN.replace(")?$", ")$"), "maxLength": 63},
)
CLASS_NAME = text_kind(
    "a DNS subdomain",
    refusal.NO_NAME,
    names.dns_subdomain_problem,
    {"pattern": rf"^{_DNS_LABEL}(\.{_DNS_LABEL})*$", "maxLength": names.SUBDOMAIN_LENGTH},
)
HANDLER = text_kind(
    "a DNS label",
    refusal.NO_NAME,
    names.dns_label_problem,
    {"pattern": f"^{_DNS_LABEL}$", "maxLength": names.LABEL_LENGTH},
)
GROUP = text_kind("an inventory group's name", refusal.NO_NAME, _group_problem, {"pattern": r"^[^\s:\[\],!&]+$"})
IMAGE = text_kind("an image reference", refusal.NO_IMAGE, _image_problem, {"pattern": f"^{_IMAGE.pattern}$"})
LABEL_KEY = text_kind("a label key", refusal.NO_LABEL, labels.key_problem, _KEY_PATTERN)
NODE_LABEL_KEY = text_kind(
    "a label key that a kubelet may set", refusal.RESERVED_LABEL, _node_label_problem, _KEY_PATTERN
)
OBJECT_LABEL_KEY = text_kind("a label key", refusal.RESERVED_LABEL, _object_label_problem, _KEY_PATTERN)
ANNOTATION_KEY = text_kind("an annotation key", refusal.NO_LABEL, labels.annotation_key_problem, _KEY_PATTERN)
LABEL_VALUE = text_kind("a label value", refusal.NO_LABEL, labels.value_problem, {"pattern": _LABEL_VALUE_PATTERN})
RESOURCE = text_kind(
    "a resource name", refusal.NO_NAME, _resource_problem, {"pattern": r"^(cpu|memory|ephemeral-storage|.+/.+)$"}
)
