"""kube-log-runner in front of kubelet: which of a service's arguments are its own, and what they are to be.

Source: kubernetes/component-base logs/kube-log-runner/kube-log-runner.go; golang/go src/flag (one dash or two, `-x=v`
or `-x v`, a truth value alone; the first argument that is no flag ends them).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lockstep.catalog.data import load
from lockstep.catalog.kubernetes import Minor
from lockstep.kubelet.arguments import join, split
from lockstep.kubelet.service_line import find_kubelet

PROGRAM = "kube-log-runner.exe"
LOG_FILE, LOG_FILE_SIZE, LOG_FILE_AGE = "log-file", "log-file-size", "log-file-age"
_BARE = frozenset({"also-stdout", "redirect-stderr"})


@dataclass(frozen=True, slots=True)
class Native:
    """A service's command line in its parts: the runner's program and own arguments, both empty where there is none.

    `line` is kubelet's own part, its program first, as it is written.
    """

    runner: str
    arguments: tuple[str, ...]
    line: str

    def text(self) -> str:
        """Return the whole command line."""
        return f"{join((self.runner, *self.arguments))} {self.line}" if self.runner else self.line


def take_apart(command_line: str) -> Native:
    """Return the parts of a service's command line; raises CommandLineError where it does not start kubelet."""
    arguments = split(command_line)
    at, runner = find_kubelet(command_line, arguments) if arguments else (0, None)
    before = tuple(argument.value for argument in arguments[1:at])
    return Native(runner or "", before, command_line[arguments[at].start :] if arguments else "")


def with_flags(arguments: Sequence[str], wanted: Mapping[str, str]) -> tuple[str, ...]:
    """Return the runner's arguments with these values; what has its value already stays as it is written."""
    left = dict(wanted)
    result: list[str] = []
    for name, value, written in _flags(arguments):
        if name not in wanted:
            result += written
        elif name in left:
            result += written if value == left[name] else [f"--{name}={left[name]}"]
            del left[name]
    return (*result, *(f"--{name}={value}" for name, value in left.items()))


def values_of(arguments: Sequence[str]) -> dict[str, str]:
    """Return the runner's flags by name; the last of each counts."""
    return {name: value for name, value, _ in _flags(arguments)}


def knows(flag: str, facts: Minor) -> bool:
    """Return whether the kube-log-runner of this minor has a flag: an unknown one ends it, and kubelet with it."""
    since = load("kubelet-service")["log_runner"]["flags"][flag].get("since")
    return since is None or facts.number >= tuple(int(part) for part in since.split("."))


def rotates_from() -> str:
    """Return the minor from which kube-log-runner rotates its file."""
    return str(load("kubelet-service")["log_runner"]["flags"][LOG_FILE_SIZE]["since"])


def _flags(arguments: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    rest = list(arguments)
    while rest:
        first = rest.pop(0)
        name, equals, value = first.lstrip("-").partition("=")
        if equals or name in _BARE or not rest:
            yield name, value if equals else "true", [first]
        else:
            value = rest.pop(0)
            yield name, value, [first, value]
