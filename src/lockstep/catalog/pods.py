"""What a Windows pod may not set, and what it may and is something else there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Literal

from lockstep.catalog.data import load

When = Literal["set", "true"]


@dataclass(frozen=True, slots=True)
class PodFields:
    """What the API server makes of a pod with `spec.os.name: windows`.

    `refused_in_pod` and `refused_in_container` have dotted fields of the pod's spec and of a container, with whether
    they are refused when set at all or only when true. `different` has what comes of other fields on Windows, None
    where nothing does. `longest` are the lengths of windowsOptions' texts.
    """

    refused_in_pod: Mapping[str, When]
    refused_in_container: Mapping[str, When]
    different: Mapping[str, str | None]
    longest: Mapping[str, int]


@cache
def pod_fields() -> PodFields:
    """Return what holds for Windows pods. Sources are in data/windows-pods.yaml."""
    data = load("windows-pods")
    return PodFields(
        MappingProxyType(data["refused"]["pod"]),
        MappingProxyType(data["refused"]["container"]),
        MappingProxyType({name: facts["works"] or None for name, facts in data["different"].items()}),
        MappingProxyType(data["longest"]),
    )
