"""Taints and the tolerations that meet them.

Source: kubernetes/api core/v1 types `Taint`, `Toleration`; `ToleratesTaint` in k8s.io/component-helpers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lockstep.k8s.labels import key_problem, value_problem
from lockstep.words import shortened

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


def taint_problem(key: str, value: str, effect: str) -> str | None:
    """Return why the API server, and kubelet at registration, refuse such a taint, or None where they take it.

    Source: kubernetes/kubernetes pkg/apis/core/validation `validateNodeTaints`.
    """
    if effect not in EFFECTS:
        return f"'{shortened(effect)}' is no taint effect: expected {', '.join(EFFECTS[:-1])} or {EFFECTS[-1]}"
    return key_problem(key) or value_problem(value)


def toleration_problem(key: str, operator: str, value: str, effect: str) -> str | None:
    """Return why the API server refuses such a toleration, or None where it takes it.

    Source: kubernetes/kubernetes pkg/apis/core/validation `ValidateTolerations`.
    """
    if operator not in ("Equal", "Exists"):
        return f"'{shortened(operator)}' is no toleration operator: expected Equal or Exists"
    if not key and operator != "Exists":
        return "a toleration without a key meets every taint: expected operator Exists"
    if operator == "Exists" and value:
        return f"operator Exists compares no value: expected none instead of '{shortened(value)}'"
    if effect and effect not in EFFECTS:
        return f"'{shortened(effect)}' is no taint effect: expected {', '.join(EFFECTS[:-1])} or {EFFECTS[-1]}, or none"
    return (key_problem(key) if key else None) or (value_problem(value) if value else None)
