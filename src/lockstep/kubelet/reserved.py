"""What kubelet keeps from pods by the size of the machine: AKS's published formula for Windows nodes."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise

from lockstep.catalog.data import load

_MEBI = 1024**2
_MEBIS = 1024
_GRAIN = 256
"""Windows sees a few MiB less than the machine has, and not always the same: memory counts in steps of so many MiB."""


def reserved(processors: int, memory_bytes: int | None) -> dict[str, str]:
    """Return kubeReserved for a machine: `cpu` in millicores, `memory` in Mi; what Windows itself needs comes on top.

    Without `memory` where it is not known. Source: catalog/data/kubelet-service.yaml, `reserved`.
    """
    cpu = {"cpu": f"{cpu_millicores(processors)}m"}
    return cpu if memory_bytes is None else {**cpu, "memory": f"{memory_mebibytes(memory_bytes)}Mi"}


def cpu_millicores(processors: int) -> int:
    """Return how many thousandths of a processor are reserved."""
    table: Mapping[int, int] = load("kubelet-service")["reserved"]["cpu_millicores"]
    segments = list(pairwise(sorted(table.items())))
    (low, base), (high, top) = next((each for each in segments if processors <= each[1][0]), segments[-1])
    return base + (top - base) * (processors - low) // (high - low)


def memory_mebibytes(memory_bytes: int) -> int:
    """Return how much memory is reserved, in Mi, rounded down."""
    left = Decimal(round(memory_bytes / (_GRAIN * _MEBI)) * _GRAIN)
    total = Decimal(0)
    for step in load("kubelet-service")["reserved"]["memory"]:
        part = min(left, Decimal(step["gibibytes"] * _MEBIS)) if "gibibytes" in step else left
        total += part * Decimal(str(step["share"]))
        left -= part
    return int(total)
