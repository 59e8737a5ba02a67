"""Taints and the tolerations that meet them.

Source: kubernetes/api core/v1 types `Taint`, `Toleration`; `ToleratesTaint` in k8s.io/component-helpers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Effect = Literal["NoSchedule", "PreferNoSchedule", "NoExecute"]
EFFECTS: tuple[Effect, ...] = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class Taint:
    """A node's taint; `value` may be empty, and is compared case-sensitively."""

    key: str
    value: str
    effect: Effect

    def __str__(self) -> str:
        """Return the form that kubectl prints: `os=windows:NoSchedule`."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True)
class Toleration:
    """A pod's toleration; an empty effect meets every effect."""

    key: str
    operator: Literal["Equal", "Exists"]
    value: str = ""
    effect: Effect | Literal[""] = ""

    @classmethod
    def of(cls, taint: Taint) -> Toleration:
        """Return the toleration that meets this taint and no other."""
        return cls(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)

    def tolerates(self, taint: Taint) -> bool:
        """Return whether a pod with this toleration may be on a node with that taint."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        return self.operator == "Exists" or self.value == taint.value
