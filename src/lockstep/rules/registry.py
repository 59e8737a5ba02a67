"""The rules of an area: the modules of its folder, each with a `find`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from lockstep.finding import Finding

Rule = Callable[[Any], Iterable[Finding]]


@cache
def rules(area: str) -> tuple[Rule, ...]:
    """Return the `find` of every module in the folder of this name, in order of the modules' names."""
    package = importlib.import_module(f"lockstep.rules.{area}")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(importlib.import_module(f"{package.__name__}.{name}").find for name in names)


def judged(area: str, subject: Any) -> Iterable[Finding]:
    """Yield what every rule of an area finds in one subject."""
    for find in rules(area):
        yield from find(subject)
