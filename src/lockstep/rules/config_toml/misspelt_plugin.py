"""A plugin's name that is nearly one of containerd's own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from lockstep.catalog.containerd_files import plugins
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import CRI_SHORT, ConfigToml
from lockstep.words import nearest

RULE = "LW407"

_SLIP = 2
"""Letters: two that are swapped, or one that is wrong."""


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding at each misspelt name: containerd passes over sections of plugins that it does not have."""
    for name in config.table(("plugins",)):
        if name in plugins() or name == CRI_SHORT:
            continue
        meant = nearest(name, plugins())
        if meant and _slip(name, meant):
            message = f"containerd has no plugin '{name}' and passes over its section without a word"
            yield config.error(RULE, ("plugins", name), message, hint=f"did you mean '{meant}'?", at_key=True)


def _slip(name: str, meant: str) -> bool:
    """Return whether two names differ by a slip of the pen, and not by being two plugins of one kind."""
    start = _shared(name, meant)
    end = _shared(name[start:][::-1], meant[start:][::-1])
    return max(len(name), len(meant)) - start - end <= _SLIP


def _shared(one: str, other: str) -> int:
    """Return how many letters two texts share from the start."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
