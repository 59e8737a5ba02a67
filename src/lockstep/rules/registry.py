"""The rules of an area: the modules of its folder, each with a `find`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from lockstep.finding import Finding

AREAS = ("config_toml", "kubelet.file", "kubelet.line", "runtime_class", "together")

Rule = Callable[[Any], Iterable[Finding]]


@cache
def modules(area: str) -> tuple[Any, ...]:
    """Return the modules of an area's folder in order of their names: `find`, and `RULE` where it is one rule."""
    package = importlib.import_module(f"lockstep.rules.{area}")
    names = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(importlib.import_module(f"{package.__name__}.{name}") for name in names)


def judged(area: str, subject: Any) -> Iterable[Finding]:
    """Yield what every rule of an area finds in one subject."""
    for module in modules(area):
        find: Rule = module.find
        yield from find(subject)
