"""A KubeletConfiguration file and the command line of kubelet's service, as their rules see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from lockstep.catalog.kubernetes import Minor, UnknownMinor, minor
from lockstep.finding import DataPath, Place
from lockstep.kubelet.arguments import Argument, split
from lockstep.kubelet.configuration import View, inspect_configuration
from lockstep.kubelet.service_line import CommandLine, Use, parse
from lockstep.rules.given.context import Context
from lockstep.rules.given.subject import Subject
from lockstep.rules.given.text_places import TextPlaces


@dataclass(frozen=True, eq=False)
class KubeletFile(Subject):
    """A KubeletConfiguration file that can be read; `line` is the command line of the service beside it, or None."""

    file: str
    content: bytes
    context: Context
    line: KubeletLine | None = None

    @cached_property
    def view(self) -> View:
        """What the file says."""
        return inspect_configuration(self.content)

    @property
    def facts(self) -> Minor | None:
        """What is true of the kubelet that reads the file, or None where that was not said."""
        return _minor(self.context)

    def value(self, path: DataPath) -> Place:
        """Return where a value's key is written, else what holds it."""
        return self.key(path)

    def key(self, path: DataPath) -> Place:
        """Return where a value's key is written, else what holds it; the file's `kind` where nothing does."""
        for length in range(len(path), 0, -1):
            if found := self.view.places.get(path[:length]):
                last = path[length - 1]
                return Place(self.file, *found, length=len(last) if isinstance(last, str) else 1)
        line, column = self.view.places.get(("kind",), (1, 1))
        return Place(self.file, line, column, len("kind") if ("kind",) in self.view.places else 1)


@dataclass(frozen=True, eq=False)
class KubeletLine(Subject):
    """The command line of kubelet's service."""

    file: str
    text: str
    context: Context

    @property
    def facts(self) -> Minor | None:
        """What is true of the kubelet that it starts, or None where that was not said."""
        return _minor(self.context)

    def value(self, path: DataPath) -> Place:
        """Return where a flag or a stray argument is written; the program for one that is not there."""
        return self.key(path)

    def key(self, path: DataPath) -> Place:
        """Return where a flag or a stray argument is written; the program for one that is not there."""
        name = str(path[0]) if path else ""
        use: Use | Argument | None = self._uses.get(name)
        if use is None:
            arguments = split(self.text)
            use = next((argument for argument in arguments[1:] if argument.value == name), None)
            use = use or next(iter(arguments), Argument("", 0, len(self.text)))
        return TextPlaces(self.file, self.text).at(use.start, use.end - use.start)

    @cached_property
    def parsed(self) -> CommandLine | None:
        """The line taken apart, None where the release is not known. Raises CommandLineError."""
        return parse(self.text, self.facts) if self.facts else None

    @cached_property
    def _uses(self) -> Mapping[str, Use]:
        return {use.name: use for use in self.parsed.uses} if self.parsed else {}


def _minor(context: Context) -> Minor | None:
    try:
        return minor(context.kubernetes) if context.kubernetes else None
    except UnknownMinor:
        return None
