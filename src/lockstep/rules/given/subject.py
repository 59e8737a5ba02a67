"""What every rule is given: something that knows where its values are written."""

from __future__ import annotations

from abc import ABC, abstractmethod

from lockstep.finding import DataPath, Finding, Place, Severity
from lockstep.rules.given.context import Context


class Subject(ABC):
    """A file, or part of one, that rules look at; `context` is what was said about it."""

    context: Context

    @abstractmethod
    def value(self, path: DataPath) -> Place:
        """Return where a value is written, else what holds it."""

    @abstractmethod
    def key(self, path: DataPath) -> Place:
        """Return where a value's key is written, else what holds it."""

    def error(
        self,
        rule: str,
        path: DataPath,
        message: str,
        *,
        hint: str | None = None,
        fix: str | None = None,
        at_key: bool = False,
        replacement: str | None = None,
    ) -> Finding:
        """Return an error at a value, or at its key; `replacement` is what is certain to be meant there."""
        place = self.key(path) if at_key else self.value(path)
        return Finding(rule, Severity.ERROR, path, message, hint, fix, place, replacement)

    def warning(
        self,
        rule: str,
        path: DataPath,
        message: str,
        *,
        hint: str | None = None,
        fix: str | None = None,
        at_key: bool = False,
        replacement: str | None = None,
    ) -> Finding:
        """Return a warning at a value, or at its key; `replacement` is what is certain to be meant there."""
        place = self.key(path) if at_key else self.value(path)
        return Finding(rule, Severity.WARNING, path, message, hint, fix, place, replacement)
