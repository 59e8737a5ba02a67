"""What flags make of the fields that they override."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from lockstep.catalog.kubernetes import Flag, Minor
from lockstep.kubelet.command_line import value_problem
from lockstep.kubelet.service_line import CommandLine, pairs

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_TAINT = re.compile(r"([^=:]+)(?:=([^:]*))?:(.+)")


def with_flags(fields: Mapping[str, Any], line: CommandLine, facts: Minor) -> dict[str, Any]:
    """Return the fields as kubelet has them after it has read its flags, which come last.

    A flag whose value kubelet would refuse changes nothing here; feature gates of the file stay beside the flag's.
    Source: kubernetes/kubernetes cmd/kubelet/app/server.go `kubeletConfigFlagPrecedence`.
    """
    result = dict(fields)
    for name, text in line.values().items():
        flag = facts.flags.get(name)
        if flag is None or flag.field is None or value_problem(flag, text):
            continue
        value = _value(flag, text)
        if name == "feature-gates":
            value = {**(result.get("featureGates") or {}), **value}
        _put(result, flag.field.split("."), value)
    return result


def _put(fields: dict[str, Any], path: list[str], value: Any) -> None:
    for name in path[:-1]:
        inner = fields.get(name)
        fields[name] = dict(inner) if isinstance(inner, Mapping) else {}
        fields = fields[name]
    fields[path[-1]] = value


def _value(flag: Flag, text: str) -> Any:
    if flag.type == "bool":
        return text in _TRUE
    if flag.type == "int":
        return int(text)
    if flag.type not in ("list", "map"):
        return text
    return _collection(flag, text, [part.strip() for part in text.split(",") if part.strip()])


def _collection(flag: Flag, text: str, parts: list[str]) -> Any:
    read = _OWN_FORMS.get(flag.name)
    if read is not None:
        return read(text, parts)
    return pairs([text]) if flag.type == "map" else parts


def _taints(_: str, parts: list[str]) -> list[dict[str, str]]:
    found = [_TAINT.fullmatch(part) for part in parts]
    return [{"key": match[1], "value": match[2] or "", "effect": match[3]} for match in found if match]


def _gates(text: str, _: list[str]) -> dict[str, bool]:
    return {name: value in _TRUE for name, value in pairs([text]).items()}


def _thresholds(_: str, parts: list[str]) -> dict[str, str]:
    return {name: value for name, _, value in (part.partition("<") for part in parts)}


def _headers(_: str, parts: list[str]) -> dict[str, list[str]]:
    found = [(name.strip(), value.strip()) for name, _, value in (part.partition(":") for part in parts)]
    return {name: [value for other, value in found if other == name] for name, _ in found}


def _reserved_memory(text: str, _: list[str]) -> list[dict[str, Any]]:
    found = (part.partition(":") for part in text.split(";") if part.strip())
    return [{"numaNode": _number(node), "limits": pairs([limits])} for node, _, limits in found]


def _verbosities(text: str, _: list[str]) -> list[dict[str, Any]]:
    return [{"filePattern": name, "verbosity": _number(value)} for name, value in pairs([text]).items()]


def _number(text: str) -> int | str:
    return int(text) if text.strip().isdecimal() else text


_OWN_FORMS: Mapping[str, Callable[[str, list[str]], Any]] = {
    "register-with-taints": _taints,
    "feature-gates": _gates,
    "eviction-hard": _thresholds,
    "eviction-soft": _thresholds,
    "manifest-url-header": _headers,
    "reserved-memory": _reserved_memory,
    "vmodule": _verbosities,
}
"""Flags that are written otherwise than `a,b` or `key=value,key=value`.

Source: kubernetes/kubernetes cmd/kubelet/app/options and pkg/util/flag (ReservedMemoryVar); kubernetes/component-base
cli/flag (ColonSeparatedMultimapStringString) and logs/api/v1 (VModuleConfigurationPflag).
"""
