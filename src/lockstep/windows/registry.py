"""Values of the registry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lockstep.node.operations import Operation, RegistryValue, Result, read_registry, remove_registry, write_registry
from lockstep.windows.aspect import Aspect, Change, Line, Observed


@dataclass(frozen=True, slots=True)
class Wanted:
    """A value that is to be. `value` None: it is not to be there.

    `restart`: what needs one to see the new value. `may_lack`: no value is as good as this one.
    """

    key: str
    name: str
    kind: str
    value: RegistryValue | None
    restart: str | None = None
    may_lack: bool = False

    @property
    def reading(self) -> Operation:
        """What asks for it."""
        return read_registry(self.key, self.name)

    @property
    def path(self) -> str:
        """The value's full name."""
        return f"{self.key}\\{self.name}"


def compare(title: str, wanted: Sequence[Wanted], observed: Observed) -> Aspect:
    """Return what is to be written or removed."""
    lines, changes = [], []
    for value in wanted:
        found = observed(value.reading)
        before = value_of(found)
        same = before == value.value and (value.value is None or found["kind"] == value.kind)
        same = same or (value.may_lack and before is None)
        line = Line(value.path, _shown(found), _shown(found) if same else _text(value.kind, value.value))
        lines.append(line)
        change = None if same else _change(value, before)
        if change is not None:
            changes.append(change)
    return Aspect(title, lines, changes)


def value_of(result: Result) -> RegistryValue | None:
    """Return the value that a read found, None where there is none."""
    value: RegistryValue | None = result.get("value") if result["exists"] else None
    return value


def _change(wanted: Wanted, before: RegistryValue | None) -> Change | None:
    """Return what writes or removes a value; None where there is none to be removed."""
    if wanted.value is not None:
        write = write_registry(wanted.key, wanted.name, wanted.kind, wanted.value, replaces=before)
        return Change(f"set {wanted.path}", write, wanted.restart)
    if before is None:
        return None
    return Change(f"remove {wanted.path}", remove_registry(wanted.key, wanted.name, replaces=before), wanted.restart)


def _shown(found: Result) -> str | None:
    return _text(found["kind"], value_of(found)) if found["exists"] else None


def _text(kind: str, value: RegistryValue | None) -> str | None:
    if value is None:
        return None
    text = ", ".join(value) if isinstance(value, list) else str(value)
    return f"{text} ({kind})" if text else f"empty ({kind})"
