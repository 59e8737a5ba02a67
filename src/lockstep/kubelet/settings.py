"""What a rule about KubeletConfiguration sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.catalog.kubernetes import Minor
from lockstep.finding import Severity
from lockstep.kubelet.problem import Problem

ERROR, WARNING = Severity.ERROR, Severity.WARNING


@dataclass(frozen=True, slots=True)
class Settings:
    """What a rule sees: the fields, the minor's facts, and whether the fields are the whole file.

    Of a whole file it is known what is missing, so kubelet's defaults count; otherwise a rule about two fields speaks
    only where both are there.
    """

    fields: Mapping[str, Any]
    facts: Minor
    whole: bool

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field's value; where it is missing its default if the file is whole, else None."""
        value = self.fields.get(name)
        return (default if self.whole else None) if value is None else value

    def said(self, name: str, value: str) -> str:
        """Return in words that a field has a value, as `shown`: the one that is written, or its default."""
        if self.fields.get(name) is None:
            return f"{name} is not written, and its default ({value})"
        return f"{name} is {value}, which"

    def gate(self, name: str) -> bool:
        """Return whether a feature gate is on."""
        gates = self.fields.get("featureGates") or {}
        return bool(gates.get(name, self.facts.gates.get(name, False)))


Rule = Callable[[Settings], Iterator[Problem]]
