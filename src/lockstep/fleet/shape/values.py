"""Every kind of single value in a description."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lockstep.catalog import builds, versions
from lockstep.fleet.own_labels import DOMAIN
from lockstep.fleet.shape import refusal
from lockstep.fleet.shape.kinds import Kind, Raw, meant_by, refused_as, text_kind, word_kind, written, wrong_type
from lockstep.fleet.shape.refusal import Refused
from lockstep.k8s import labels, names, quantities
from lockstep.k8s.taints import EFFECTS
from lockstep.words import nearest, shortened

LARGEST_INT32 = 2**31 - 1

_DECIMAL = re.compile(r"[0-9]+\.[0-9]+")
_IMAGE = re.compile(
    r"(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*"
    r"(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?",
)
_LABEL_VALUE_PATTERN = r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$"


def _build(value: Any, raw: Raw) -> builds.Build:
    if isinstance(value, int) and not isinstance(value, bool) and raw in (None, str(value)):
        return _resolved(value)
    return meant_by(value, raw, "a Windows build", _resolved)


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
    return meant_by(value, raw, "a version", _parsed)


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
        raise refused_as(refusal.NO_VERSION, str(error)) from error


def _quantity(value: Any, raw: Raw) -> str:
    plain = raw is None or raw == str(value) or (isinstance(value, float) and _DECIMAL.fullmatch(raw))
    if isinstance(value, int | float) and not isinstance(value, bool) and plain:
        return _measured(raw or str(value))
    return meant_by(value, raw, "a quantity such as 512Mi or 100m", _measured)


def _measured(content: str) -> str:
    if message := quantities.problem(content):
        raise refused_as(refusal.NO_QUANTITY, message)
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
        raise refused_as(refusal.NO_LABEL, problem)
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
