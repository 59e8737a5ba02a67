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
    ("version", "plugins", "imports", "root", "state", "grpc", "ttrpc", "debug", "metrics", "disabled_plugins")
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


def kind_of(text: str, name: str) -> Kind:
    """Return what a file is by its text; its name decides only where that says more than the text."""
    if PurePath(name).suffix == ".toml" or _is_config_toml(text):
        return Kind.CONFIG_TOML
    keys = _TOP_KEY.findall(text)
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
        return bool(tomllib.loads(text).keys() & _TOML_ROOTS)
    except (ValueError, RecursionError):
        return len(_TOML_LINE.findall(text)) > 1


def _describes(text: str, keys: list[str]) -> bool:
    """Return whether a text is a bare description, an inventory, or meant to be one."""
    own = set(keys) & FLEET.fields.keys() or f'"{VARIABLE}"' in text
    meant = bool(keys) and nearest(VARIABLE, keys) is not None
    return bool(own) or meant or bool(_INVENTORY_KEY.search(text)) or bool(_INI.search(text))
