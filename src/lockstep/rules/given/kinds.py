"""What a file is, by its content: a description, a config.toml, a KubeletConfiguration or Kubernetes objects."""

from __future__ import annotations

import re
import tomllib
from enum import Enum, auto
from pathlib import PurePath

from lockstep.catalog.kubernetes import all_fields
from lockstep.fleet.shape.spec import FLEET, VARIABLE
from lockstep.words import nearest


class Kind(Enum):
    """What a file can be."""

    DESCRIPTION = auto()
    CONFIG_TOML = auto()
    KUBELET = auto()
    OBJECTS = auto()
    UNKNOWN = auto()


_TOML_ROOTS = frozenset(
    ("plugins", "proxy_plugins", "imports", "root", "state", "grpc", "ttrpc", "debug", "metrics", "disabled_plugins")
)
_TOML_LINE = re.compile(r"^[ \t]*(?:\[+[ \t]*\"?(?:plugins|grpc|proxy_plugins)\b.*\]|version\s*=\s*\S+)", re.MULTILINE)
_OBJECT = re.compile(r"""^(?:---[ \t]+)?[{, \t]*["']?(?:apiVersion|kind)["']?\s*:""", re.MULTILINE)
_KUBELET = re.compile(
    r"""^[{, \t]*["']?(?:kind["']?\s*:\s*["']?KubeletConfiguration"""
    r"""|apiVersion["']?\s*:\s*["']?kubelet\.config\.k8s\.io)""",
    re.MULTILINE,
)
_TOP_KEY = re.compile(r"""^["']?([A-Za-z_][\w.-]*)["']?\s*:(?=\s|$)""", re.MULTILINE)
_INVENTORY_KEY = re.compile(r"^[ \t]+(?:hosts|children)\s*:\s*$", re.MULTILINE)
_INI = re.compile(r"\A(?:\s|[#;].*\n)*(?:\[[^\]\n,=]+\]\s*$|[\w.-]+(?:[ \t]+ansible_\w+=\S*)+\s*$)", re.MULTILINE)
_ENOUGH = 0.5


def kind_of(text: str, name: str, *, found: bool = False) -> Kind:
    """Return what a file is by its text; its name decides only where that says more than the text.

    Of the TOML files that were found in a folder, most belong to other programs.
    """
    path = PurePath(name)
    named = path.name == "config.toml" if found else path.suffix == ".toml"
    if named or _is_config_toml(text):
        return Kind.CONFIG_TOML
    keys = _TOP_KEY.findall(text)
    if path.suffix == ".toml":
        return Kind.UNKNOWN
    if VARIABLE in keys:
        return Kind.DESCRIPTION
    if _KUBELET.search(text):
        return Kind.KUBELET
    if _OBJECT.search(text):
        return Kind.OBJECTS
    return _by_keys(text, keys)


def _by_keys(text: str, keys: list[str]) -> Kind:
    if _describes(text, keys):
        return Kind.DESCRIPTION
    fields = all_fields("KubeletConfiguration")
    mostly = keys and sum(key in fields for key in keys) > _ENOUGH * len(keys)
    return Kind.KUBELET if mostly else Kind.UNKNOWN


def _is_config_toml(text: str) -> bool:
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        return len(_TOML_LINE.findall(text)) > 1
    return isinstance(data.get("version"), int) or bool(data.keys() & _TOML_ROOTS)


def _describes(text: str, keys: list[str]) -> bool:
    """Return whether a text is a bare description, an inventory, or meant to be one."""
    own = set(keys) & FLEET.fields.keys() or f'"{VARIABLE}"' in text
    meant = bool(keys) and nearest(VARIABLE, keys) is not None
    return bool(own) or meant or bool(_INVENTORY_KEY.search(text)) or bool(_INI.search(text))
