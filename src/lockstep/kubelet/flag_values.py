"""What flags make of the fields that they override."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
    if flag.name == "register-with-taints":
        found = [_TAINT.fullmatch(part) for part in parts]
        return [{"key": match[1], "value": match[2] or "", "effect": match[3]} for match in found if match]
    if flag.name == "feature-gates":
        return {name: value in _TRUE for name, value in pairs([text]).items()}
    if flag.name in ("eviction-hard", "eviction-soft"):
        return {name: value for name, _, value in (part.partition("<") for part in parts)}
    return pairs([text]) if flag.type == "map" else parts
