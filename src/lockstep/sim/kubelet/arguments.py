"""kubelet's command line, as its flag library (spf13/pflag) reads it.

Source: kubernetes v1.36.1 cmd/kubelet/app/server.go, cmd/kubelet/app/options/options.go (ValidateKubeletFlags);
kubernetes/kubelet pkg/apis/well_known_labels.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lockstep.catalog.kubernetes import Flag, Minor

_SHORT = {"v": "v", "h": "help"}
_LABEL_NAME = re.compile(r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$")
_LABEL_VALUE = re.compile(r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$")
_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_ALLOWED = frozenset(
    (
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    )
)


class KubeletError(Exception):
    """kubelet ends; `before_ready` tells whether before it spoke to the service manager."""

    def __init__(self, words: str, *, before_ready: bool = True) -> None:
        super().__init__(words)
        self.words = words
        self.before_ready = before_ready


def parse(arguments: list[str], minor: Minor) -> dict[str, str]:
    """Return flags by name, the last of each.

    Raises KubeletError for one that this minor does not have, or a word that is none.
    """
    flags: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if not argument.startswith("-") or argument == "-":
            raise KubeletError(f"unknown command {argument}")
        if argument == "--":
            break
        name, equals, value = argument.removeprefix("--").partition("=")
        if not argument.startswith("--"):
            name, equals, value = _short(argument)
        flag = minor.flags.get(name)
        if flag is None and name not in ("help", "version"):
            raise KubeletError(f"failed to parse kubelet flag: unknown flag: --{name}")
        if not equals and flag is not None and flag.type != "bool" and name != "version":
            if not rest:
                raise KubeletError(f"failed to parse kubelet flag: flag needs an argument: --{name}")
            value = rest.pop(0)
        elif not equals:
            value = "true"
        _check_type(name, flag, value)
        flags[name] = value
    return flags


def _short(argument: str) -> tuple[str, str, str]:
    letter, value = argument[1], argument[2:].removeprefix("=")
    if letter not in _SHORT:
        raise KubeletError(f"failed to parse kubelet flag: unknown shorthand flag: '{letter}' in {argument}")
    return _SHORT[letter], "=" if value else "", value


def _check_type(name: str, flag: Flag | None, value: str) -> None:
    kind = flag.type if flag is not None else "bool"
    if kind == "bool" and value.lower() not in ("true", "false", "1", "0", "t", "f") and name != "version":
        raise KubeletError(
            f'failed to parse kubelet flag: invalid argument "{value}" for "--{name}" flag: strconv.ParseBool: '
            f'parsing "{value}": invalid syntax'
        )
    if kind == "int" and not re.fullmatch(r"[+-]?\d+", value):
        raise KubeletError(
            f'failed to parse kubelet flag: invalid argument "{value}" for "--{name}" flag: strconv.ParseInt: '
            f'parsing "{value}": invalid syntax'
        )


def pairs(text: str, flag: str) -> dict[str, str]:
    """`a=b,c=d` as a mapping; raises KubeletError."""
    found = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = part.partition("=")
        if not equals:
            raise KubeletError(
                f'failed to parse kubelet flag: invalid argument "{text}" for "--{flag}" flag: '
                "malformed pair, expect string=string"
            )
        found[key.strip()] = value.strip()
    return found


def node_labels(flags: Mapping[str, str]) -> dict[str, str]:
    """Return the labels of --node-labels; raises KubeletError for those that a kubelet may not give itself."""
    labels = pairs(flags.get("node-labels", ""), "node-labels")
    unknown = sorted(key for key in labels if _kubernetes(key) and not _kubelet_may(key))
    if unknown:
        raise KubeletError(
            "failed to validate kubelet flags: unknown 'kubernetes.io' or 'k8s.io' labels specified with "
            "--node-labels: "
            f"[{' '.join(unknown)}]\n--node-labels in the 'kubernetes.io' namespace must begin with an allowed prefix "
            f"({', '.join(_NAMESPACES)}) or be in the specifically allowed set ({', '.join(sorted(_ALLOWED))})"
        )
    for key, value in labels.items():
        if not _LABEL_NAME.match(key.rpartition("/")[2]) or not _LABEL_VALUE.match(value):
            raise KubeletError(f"failed to validate kubelet flags: invalid node labels: '{key}={value}'")
    return labels


def _kubernetes(key: str) -> bool:
    namespace = key.partition("/")[0] if "/" in key else ""
    return any(namespace == domain or namespace.endswith(f".{domain}") for domain in ("kubernetes.io", "k8s.io"))


def _kubelet_may(key: str) -> bool:
    namespace = key.partition("/")[0]
    return key in _ALLOWED or any(namespace == allowed or namespace.endswith(f".{allowed}") for allowed in _NAMESPACES)
