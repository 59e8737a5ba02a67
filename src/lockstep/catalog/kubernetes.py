"""What the catalogue knows of each Kubernetes minor: kubelet's fields and flags, and what goes with it on Windows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from lockstep.catalog.builds import known
from lockstep.catalog.data import load
from lockstep.catalog.versions import Version

_FORM = re.compile(r"v?(\d{1,3})\.(\d{1,3})(?:\.\d{1,4}(?:[-+][0-9A-Za-z.+-]+)?)?", re.ASCII)
_NEWER = 2
"""How many minors past the newest known one are taken to be like it; anything further is a slip of the pen."""


class UnknownMinor(ValueError):  # noqa: N818 - the name says it
    """A Kubernetes version that the catalogue knows nothing about; the message names the known range."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of KubeletConfiguration or of a type in it.

    `type` is string, bool, int, number, duration, duration-or-int, quantity, `[]<type>`, `map:<type>` (a mapping of
    strings to it), or the name of one of `Minor.types`.
    """

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Flag:
    """A kubelet flag.

    `type` is string, bool, int, duration, list (comma separated) or map (`key=value`, comma separated). `field` is the
    dotted KubeletConfiguration field that the flag overrides, or None where the flag is the only way.
    """

    name: str
    type: str
    field: str | None


@dataclass(frozen=True, slots=True)
class Minor:
    """One Kubernetes minor release, as far as Windows nodes are concerned.

    `known` is False for a minor newer than the catalogue: everything else is then what the newest known minor has.
    `pause` is kubeadm's default pause tag. `enforce_node_allocatable` goes with `cgroupsPerQOS: false` and is () or
    ("none",). `containerd` holds the oldest patch release that works of each containerd series, and is empty where no
    table was published. `windows_server` holds the build numbers of Windows that its nodes are known to work on.
    """

    name: str
    number: tuple[int, int]
    known: bool
    pause: str
    enforce_node_allocatable: tuple[str, ...]
    containerd: tuple[str, ...]
    windows_server: tuple[int, ...]

    @property
    def types(self) -> Mapping[str, Mapping[str, Field]]:
        """Return the fields of KubeletConfiguration and of every type within, by type and JSON name."""
        return _types(self.number)

    @property
    def fields(self) -> frozenset[str]:
        """Return the names of KubeletConfiguration's own fields in this minor, without apiVersion and kind."""
        return frozenset(self.types["KubeletConfiguration"]) - {"apiVersion", "kind"}

    @property
    def flags(self) -> Mapping[str, Flag]:
        """Return the flags that this minor's kubelet takes on Windows."""
        return _flags(self.number)[0]

    @property
    def removed_flags(self) -> Mapping[str, str]:
        """Return the flags that are gone by this minor, each with the minor they went in: any of them stops kubelet."""
        return _flags(self.number)[1]

    @property
    def flag_only(self) -> frozenset[str]:
        """Return the flags that have no KubeletConfiguration field in this minor."""
        return frozenset(name for name, flag in self.flags.items() if flag.field is None)

    @property
    def endpoint_is_field(self) -> bool:
        """Return whether containerRuntimeEndpoint is a field (from 1.27) and not a flag alone."""
        return "containerRuntimeEndpoint" in self.fields

    @property
    def gates(self) -> Mapping[str, bool]:
        """Return the feature gates that this minor's kubelet knows, with their defaults; any other stops it."""
        return _gates(self.number)[0]

    @property
    def locked_gates(self) -> Mapping[str, bool]:
        """Return the feature gates that may not be set to anything but this value."""
        return _gates(self.number)[1]

    @property
    def older_than_server(self) -> int:
        """Return how many minors this minor's kubelet may be older than its kube-apiserver; it is never newer."""
        steps = load("kubernetes")["skew"]["older"]
        return int([older for since, older in steps.items() if _number(since) <= self.number][-1])

    def lists_handlers(self, containerd: Version) -> bool:
        """Return whether a node with this minor and containerd lists its handlers in node.status.runtimeHandlers."""
        since, first = handlers_listed_from()
        return self.number >= _number(since) and containerd >= first

    @property
    def fatal_on_windows(self) -> frozenset[str]:
        """Return the fields that keep kubelet from starting on Windows when they are set at all."""
        return frozenset(load("kubernetes")["fatal_on_windows"]["fields"]) & self.fields

    @property
    def without_effect(self) -> frozenset[str]:
        """Return the fields that do nothing on Windows."""
        return frozenset(load("kubernetes")["without_effect"]["fields"]) & self.fields


def minor(version: str) -> Minor:
    """Return what is known of the minor that a version (`1.36.1`, `v1.36.1+rke2r1`, `1.36`) belongs to.

    A minor up to two newer than the newest known one gets the newest one's facts and `known` False, so that a node can
    be upgraded before the catalogue is; what was new or removed in it is then not seen. Anything older than the oldest,
    or further ahead, raises UnknownMinor.
    """
    match = _FORM.fullmatch(version)
    if match is None:
        raise UnknownMinor(f"'{version}' is not a Kubernetes version: expected one such as 1.36.1")
    return _minor((int(match[1]), int(match[2])))


def handlers_listed_from() -> tuple[str, Version]:
    """Return the first minor, and the first containerd, with which nodes list their handlers unasked."""
    facts = load("kubernetes")["runtime_handlers"]
    return facts["since"], Version.parse(facts["containerd"])


def known_minors() -> tuple[str, ...]:
    """Return the minors in the catalogue, oldest first."""
    return tuple(load("kubernetes")["minors"])


@cache
def _minor(number: tuple[int, int]) -> Minor:
    minors = load("kubernetes")["minors"]
    names = list(minors)
    oldest, newest = _number(names[0]), _number(names[-1])
    name = f"{number[0]}.{number[1]}"
    if number[0] != newest[0] or not oldest <= number <= (newest[0], newest[1] + _NEWER):
        raise UnknownMinor(f"Kubernetes {name} is not known: the catalogue has {names[0]} to {names[-1]}")
    entry = minors[name if number <= newest else names[-1]]
    return Minor(
        name=name,
        number=number,
        known=number <= newest,
        pause=entry["pause"],
        enforce_node_allocatable=tuple(entry["enforce"]),
        containerd=tuple(entry["containerd"]),
        windows_server=_windows_server(entry["windows"], number),
    )


def _windows_server(listed: Iterable[int], number: tuple[int, int]) -> tuple[int, ...]:
    """Return the builds that Kubernetes lists for a minor, and those that are known to work on it."""
    works = (build for build, facts in known().items() if facts.kubernetes and _number(facts.kubernetes) <= number)
    return tuple(sorted({*listed, *works}))


@cache
def _types(number: tuple[int, int]) -> Mapping[str, Mapping[str, Field]]:
    return MappingProxyType(
        {
            name: MappingProxyType(
                {field: Field(field, entry["type"]) for field, entry in fields.items() if _there(entry, number)}
            )
            for name, fields in load("kubernetes")["types"].items()
        }
    )


@cache
def _flags(number: tuple[int, int]) -> tuple[Mapping[str, Flag], Mapping[str, str]]:
    entries = load("kubernetes")["flags"]
    fields = _types(number)["KubeletConfiguration"]
    there = {
        name: Flag(
            name, entry["type"], path if (path := entry.get("field")) and path.partition(".")[0] in fields else None
        )
        for name, entry in entries.items()
        if _there(entry, number)
    }
    gone = {
        name: entry["removed"]
        for name, entry in entries.items()
        if "removed" in entry and number >= _number(entry["removed"])
    }
    return MappingProxyType(there), MappingProxyType(gone)


@cache
def _gates(number: tuple[int, int]) -> tuple[Mapping[str, bool], Mapping[str, bool]]:
    gates: dict[str, bool] = {}
    locked: dict[str, bool] = {}
    for name, entry in load("kubernetes")["gates"].items():
        if not _there(entry, number):
            continue
        default = entry["default"]
        if isinstance(default, Mapping):  # from each minor that changed it, oldest first
            default = [value for minor_name, value in default.items() if number >= _number(minor_name)][-1]
        gates[name] = default
        if "locked" in entry and number >= _number(entry["locked"]):
            locked[name] = default
    return MappingProxyType(gates), MappingProxyType(locked)


def _there(entry: Mapping[str, Any], number: tuple[int, int]) -> bool:
    if "since" in entry and number < _number(entry["since"]):
        return False
    return not ("removed" in entry and number >= _number(entry["removed"]))


def since(type_name: str, field: str) -> str | None:
    """Return the minor that brought a field of a type, or None where the oldest known minor has it already."""
    entry: Mapping[str, str] = load("kubernetes")["types"][type_name][field]
    return entry.get("since")


def when(kind: str, name: str, number: tuple[int, int]) -> str | None:
    """Return when something of a kind ("flags" or "gates") came or went that a minor lacks, in words.

    None where no known minor has it.
    """
    entry: Mapping[str, str] | None = load("kubernetes")[kind].get(name)
    if entry is None:
        return None
    if "since" in entry and number < _number(entry["since"]):
        return f"it came with {entry['since']}"
    return f"it went with {entry['removed']}" if "removed" in entry else None


def all_fields(type_name: str) -> frozenset[str]:
    """Return the JSON names that a type of KubeletConfiguration has had in any known minor."""
    return frozenset(load("kubernetes")["types"][type_name])


def _number(text: str) -> tuple[int, int]:
    major, _, minor_number = text.partition(".")
    return int(major), int(minor_number)
