"""A RuntimeClass manifest as its rules see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lockstep.finding import DataPath, Place
from lockstep.fleet.text.locate import NodeLocator
from lockstep.k8s.labels import OS, WINDOWS_BUILD
from lockstep.k8s.taints import EFFECTS, Toleration
from lockstep.rules.given.context import Context
from lockstep.rules.given.subject import Subject

SHIM_PREFIX = "runhcs-"


@dataclass(frozen=True, eq=False)
class RuntimeClassManifest(Subject):
    """One RuntimeClass: its data as YAML gives them, of whatever types."""

    file: str
    data: Mapping[str, Any]
    locator: NodeLocator
    context: Context

    @property
    def name(self) -> str:
        """Its metadata.name, empty where there is none."""
        return _text(self.mapping("metadata").get("name"))

    @property
    def handler(self) -> str:
        """Its handler, empty where there is none that is text."""
        return _text(self.data.get("handler"))

    @cached_property
    def selector(self) -> Mapping[str, str]:
        """The pairs of scheduling.nodeSelector that are text."""
        found = self.mapping("scheduling", "nodeSelector").items()
        return {key: value for key, value in found if isinstance(key, str) and isinstance(value, str)}

    @cached_property
    def tolerations(self) -> tuple[Toleration, ...]:
        """Its tolerations, as far as they can be read."""
        found = self.mapping("scheduling").get("tolerations")
        items = [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []
        return tuple(
            Toleration(
                key=_text(item.get("key")),
                operator="Exists" if item.get("operator") == "Exists" else "Equal",
                value=_text(item.get("value")),
                effect=next((effect for effect in EFFECTS if effect == item.get("effect")), ""),
            )
            for item in items
        )

    @property
    def for_windows(self) -> bool:
        """Whether it is meant for Windows: by its handler's name, or by what it selects."""
        runhcs = self.handler.startswith(SHIM_PREFIX) and "lcow" not in self.handler
        return runhcs or self.selector.get(OS) == "windows" or WINDOWS_BUILD in self.selector

    def mapping(self, *path: str) -> Mapping[Any, Any]:
        """Return the mapping at a path, empty where there is none."""
        found: Any = self.data
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def value(self, path: DataPath) -> Place:
        """Return where a value is written, else what holds it."""
        return self._found(self.locator.value(path)) if self._has(path) else self.key(path)

    def key(self, path: DataPath) -> Place:
        """Return where a value's key is written, else what holds it; `kind` for what is not there at all."""
        while path and not self._has(path):
            path = path[:-1]
        return self._found(self.locator.key(path or ("kind",)))

    def _found(self, place: Place | None) -> Place:
        return place or Place(self.file, 1, 1)

    def _has(self, path: DataPath) -> bool:
        found: Any = self.data
        try:
            for part in path:
                found = found[part]
        except (KeyError, IndexError, TypeError):
            return False
        return True


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
