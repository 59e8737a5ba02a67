"""Windows features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lockstep.catalog.isolation import hyperv_needs
from lockstep.node.operations import Operation, install_features, read_features
from lockstep.windows.aspect import Aspect, Change, Line, Observed

INSTALLED = "installed"
PENDING = "install_pending"
UNKNOWN = "unknown"
_DONE = (INSTALLED, PENDING, UNKNOWN)
_COMPLETE = "a feature that was just installed"


def reading(features: Iterable[str]) -> Operation:
    """Return what asks for these features, and always for all that containers may need: all pools ask the same."""
    return read_features(sorted({*hyperv_needs().features, *features}))


def states(features: Sequence[str], observed: Observed) -> dict[str, str]:
    """Return the states of these features."""
    found = observed(reading(features))["features"]
    return {name: found[name] for name in features}


def compare(features: Sequence[str], source: str | None, observed: Observed) -> Aspect:
    """Return what is to be installed. What Windows does not know is for the preflight to refuse."""
    found = states(features, observed)
    absent = [name for name, state in found.items() if state not in _DONE]
    lines = [Line(name, _shown(state), INSTALLED if name in absent else _shown(state)) for name, state in found.items()]
    if not absent:
        return Aspect("Windows features", lines)
    label = f"install feature{'s' if len(absent) > 1 else ''} {', '.join(absent)}"
    return Aspect("Windows features", lines, [Change(label, install_features(absent, source))])


def waiting(features: Sequence[str], observed: Observed) -> list[str]:
    """Return which of these features are installed and work after a restart only."""
    return [name for name, state in states(features, observed).items() if state == PENDING]


def _shown(state: str) -> str:
    return {PENDING: "installed, works after a restart", "removed": "not installed, its files were removed"}.get(
        state, "not installed" if state == "available" else state.replace("_", " ")
    )
