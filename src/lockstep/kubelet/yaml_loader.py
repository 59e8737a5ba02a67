"""A YAML loader that reads plain scalars as kubelet's decoder does.

Source: the YAML 1.1 of sigs.k8s.io/yaml goyaml.v2 resolve.go: y and n are truth values, 1e3 is a number, 0o17 and 017
are octal, 1:30 and 2001-01-01 are text; and its way through JSON, where a number without fraction is a whole number.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _Base
except ImportError:  # PyYAML built without libyaml reads the same, slower
    from yaml import SafeLoader as _Base  # type: ignore[assignment]  # the two loaders share no base class in typeshed

_TAG = "tag:yaml.org,2002:"
_OWN = ("bool", "int", "float", "timestamp")
_BOOL = re.compile(r"(?:y|Y|yes|Yes|YES|on|On|ON|n|N|no|No|NO|off|Off|OFF|true|True|TRUE|false|False|FALSE)$")
_INT = re.compile(r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[1-9][0-9_]*|0)$", re.ASCII)
_FLOAT = re.compile(
    r"(?:[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
    re.ASCII,
)
_RESOLVERS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("bool", _BOOL, "yYnNtTfFoO"),
    ("int", _INT, "-+0123456789"),
    ("float", _FLOAT, "-+0123456789."),
)


class GoLoader(_Base):
    """The safe loader with Go's view of plain scalars."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - overrides an attribute of PyYAML's, which is no ClassVar there
        first: [(tag, form) for tag, form in resolvers if tag.removeprefix(_TAG) not in _OWN]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def key_name(text: str) -> str:
    """Return what a plain scalar is called as a key, once it has been through JSON: y is `true`, 0x10 is `16`."""
    if _BOOL.match(text):
        return str(_truth(text)).lower()
    with suppress(ValueError):  # 0b_ has the form of a number and is none
        return str(_whole(text)) if _INT.match(text) else text
    return text


def string_keys(value: Any) -> Any:
    """Return plain data with every key as text, as JSON has it."""
    if isinstance(value, list):
        return [string_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key if isinstance(key, str) else str(key).lower(): string_keys(item) for key, item in value.items()}


def _truth(text: str) -> bool:
    return text.lower() in ("y", "yes", "on", "true")


def _whole(text: str) -> int:
    text = text.replace("_", "")
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    old_octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    return sign * int(digits, 8 if old_octal else 0)


def _bool(loader: Any, node: yaml.ScalarNode) -> bool:
    return _truth(str(loader.construct_scalar(node)))


def _int(loader: Any, node: yaml.ScalarNode) -> int:
    return _whole(str(loader.construct_scalar(node)))


def _float(loader: Any, node: yaml.ScalarNode) -> float | int:
    value = float(
        str(loader.construct_scalar(node)).replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan")
    )
    return int(value) if value.is_integer() else value


for _name, _form, _first in _RESOLVERS:
    GoLoader.add_implicit_resolver(_TAG + _name, _form, list(_first))
GoLoader.add_constructor(_TAG + "bool", _bool)
GoLoader.add_constructor(_TAG + "int", _int)
GoLoader.add_constructor(_TAG + "float", _float)
