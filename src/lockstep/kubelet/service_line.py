"""The command line of a service that runs kubelet, taken apart.

Source: kubernetes/kubernetes cmd/kubelet/app/server.go and github.com/spf13/pflag `parseArgs`: `--flag=value` and
`--flag value`, a truth value without one is true, underscores are dashes, anything that is no flag stops kubelet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lockstep.catalog.kubernetes import Minor, minor
from lockstep.kubelet.arguments import Argument, split
from lockstep.kubelet.problem import CommandLineError

NODE_LABELS = "node-labels"
FEATURE_GATES = "feature-gates"
_RUNNER = "kube-log-runner"
_KUBELET = "kubelet"
_PROGRAM = re.compile(r"[^\"]*?\.exe(?=[ \t]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Use:
    """A flag as it is written from `start` up to `end`.

    `value` is None where it has none, `value_start` is where the argument starts that the value is in. `joined` says
    that the value follows a '=' in the same argument, `dashed` that the name has the two dashes that kubelet wants.
    """

    name: str
    value: str | None
    start: int
    end: int
    value_start: int
    joined: bool
    dashed: bool = True


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A service command line: `program` is kubelet's path, `runner` the path of the kube-log-runner before it, if any.

    `uses` are kubelet's flags in order, `stray` the arguments that are none. `end` is where the last argument that may
    be a flag ends.
    """

    program: str
    runner: str | None
    uses: tuple[Use, ...]
    stray: tuple[str, ...]
    end: int

    def values(self) -> dict[str, str]:
        """Return the value each flag ends up with: the last one, those of node-labels and feature-gates together."""
        result: dict[str, str] = {}
        for use in (use for use in self.uses if use.dashed):
            value = "true" if use.value is None else use.value
            adds_up = use.name in (NODE_LABELS, FEATURE_GATES) and use.name in result
            result[use.name] = f"{result[use.name]},{value}" if adds_up else value
        return result

    def of(self, name: str) -> tuple[Use, ...]:
        """Return a flag's uses in order, as far as kubelet takes them for that flag."""
        return tuple(use for use in self.uses if use.name == name and use.dashed)


def parse_command_line(command_line: str, version: str) -> CommandLine:
    """Return what is on a service's command line.

    Raises CommandLineError where its program is not kubelet, alone or behind kube-log-runner, and UnknownMinor for an
    unknown `version`.
    """
    return parse(command_line, minor(version))


def pairs(values: Iterable[str | None]) -> dict[str, str]:
    """Return what `key=value,key=value` flags say together; a later one wins."""
    found: dict[str, str] = {}
    for text in values:
        for part in (text or "").split(","):
            key, _, value = part.strip().partition("=")
            if key:
                found[key.strip()] = value.strip()
    return found


def parse(command_line: str, facts: Minor) -> CommandLine:
    """Return the same as `parse_command_line` for a minor's facts."""
    arguments = split(command_line)
    if not arguments:
        raise CommandLineError("the service has no command line", "register the service of kubelet first")
    at, runner = find_kubelet(command_line, arguments)
    uses: list[Use] = []
    stray: list[str] = []
    end, rest = arguments[at].end, arguments[at + 1 :]
    while rest:
        argument, *rest = rest
        if argument.value == "--":
            stray += [argument.value, *(left.value for left in rest)]
            break
        end = argument.end
        if not argument.value.startswith("-") or argument.value == "-":
            stray.append(argument.value)
            continue
        use = _use(argument, rest, facts)
        if use.end != argument.end:
            rest = rest[1:]
            end = use.end
        uses.append(use)
    return CommandLine(arguments[at].value, runner, tuple(uses), tuple(stray), end)


def _use(argument: Argument, rest: list[Argument], facts: Minor) -> Use:
    start, end = argument.start, argument.end
    if not argument.value.startswith("--"):
        return _short(argument, rest)
    name, equals, value = argument.value[2:].partition("=")
    normal = normal_name(name)
    if equals:
        return Use(normal, value, start, end, start, joined=True)
    flag = facts.flags.get(normal)
    takes_next = (flag.type != "bool") if flag else bool(rest) and not rest[0].value.startswith("-")
    if takes_next and rest:
        return Use(normal, rest[0].value, start, rest[0].end, rest[0].start, joined=False)
    return Use(normal, None, start, end, start, joined=True)


def _short(argument: Argument, rest: list[Argument]) -> Use:
    letter, tail = argument.value[1], argument.value[2:]
    start, end = argument.start, argument.end
    if letter == "v" and (not tail or tail[0] == "=" or tail.isdigit()):
        if tail:
            return Use("v", tail.removeprefix("="), start, end, start, joined=True)
        if rest:
            return Use("v", rest[0].value, start, rest[0].end, rest[0].start, joined=False)
    name, _, value = argument.value[1:].partition("=")
    return Use(normal_name(name), value, start, end, start, joined=True, dashed=False)


def find_kubelet(command_line: str, arguments: list[Argument]) -> tuple[int, str | None]:
    """Return which argument is kubelet's program, and the program of the kube-log-runner before it, if any.

    Raises CommandLineError where the line starts something else.
    """
    first = arguments[0].value
    unquoted = _PROGRAM.match(command_line.lstrip())
    if (
        unquoted
        and " " in unquoted[0]
        and not first.lower().endswith(".exe")
        and _stem(unquoted[0]) in (_KUBELET, _RUNNER)
    ):
        raise CommandLineError(
            f"{unquoted[0]} has spaces and no quotation marks, so kubelet takes part of it for an argument and stops",
            f'register the service as "{unquoted[0]}" with its flags after that',
        )
    if _stem(first) == _KUBELET:
        return 0, None
    if _stem(first) == _RUNNER:
        named = [
            (index, argument.value)
            for index, argument in enumerate(arguments[1:], 1)
            if _stem(argument.value) == _KUBELET and not argument.value.startswith("-")
        ]
        # A log file may be called kubelet too: the one that says .exe is the program.
        programs = [index for index, value in named if value.lower().endswith(".exe")] + [index for index, _ in named]
        if programs:
            return programs[0], first
        raise CommandLineError(f"{first} starts something other than kubelet", "give it kubelet.exe and its flags")
    raise CommandLineError(
        f"the service runs {first}, whose flags for kubelet are kept elsewhere",
        "register kubelet.exe itself as the service, behind kube-log-runner.exe for a log file",
    )


def _stem(path: str) -> str:
    return re.split(r"[\\/]", path)[-1].lower().removesuffix(".exe")


def normal_name(name: str) -> str:
    """Return a flag's name without dashes in front and with dashes for underscores, as kubelet reads it."""
    return name.lstrip("-").replace("_", "-")
