"""The command line of kubelet's service with planned flags in it, everything else as it was written.

A flag overrides the configuration file (kubernetes/kubernetes cmd/kubelet/app/server.go `kubeletConfigFlagPrecedence`),
so a flag that says what the planned configuration says has to go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.catalog.kubernetes import Flag, Minor, minor, when
from lockstep.fleet.own_labels import DOMAIN
from lockstep.k8s.labels import within
from lockstep.kubelet.arguments import quote
from lockstep.kubelet.problem import CommandLineError
from lockstep.kubelet.service_line import (
    FEATURE_GATES,
    NODE_LABELS,
    CommandLine,
    Use,
    normal_name,
    pairs,
    parse,
    parse_command_line,
)
from lockstep.words import misspelt

__all__ = ["CommandLine", "Use", "merge_flags", "parse_command_line", "remove_flags"]

_Edit = tuple[int, int, str]

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
PRIORITY_CLASSES = tuple(
    f"{name}_PRIORITY_CLASS" for name in ("IDLE", "BELOW_NORMAL", "NORMAL", "ABOVE_NORMAL", "HIGH", "REALTIME")
)
"""Source: kubernetes/kubernetes cmd/kubelet/app/init_windows.go `getPriorityValue`."""


def merge_flags(
    command_line: str,
    flags: Mapping[str, str | None],
    version: str,
    configuration: Mapping[str, Any] | None = None,
    *,
    prune_labels: bool = True,
) -> str:
    """Return the command line with `flags` on it.

    Flags are named without dashes; one that is None goes, and a bare one is "true". Every other argument stays as it is
    written, but for flags that override a field of `configuration`: those go, so that the file decides. `node-labels`
    is merged label by label: the user's own stay; with `prune_labels` those below lockstep.windows that are not planned
    any more go. Of `feature-gates` only the gates that `configuration` has go. The same again changes nothing. Raises
    CommandLineError for a line that is not kubelet's and for a flag or value that the release refuses, UnknownMinor for
    an unknown `version`.
    """
    facts = minor(version)
    line = parse(command_line, facts)
    planned = {normal_name(name): value for name, value in flags.items()}
    for name, value in planned.items():
        if value is not None and (problem := planned_flag_problem(name, value, facts)):
            raise problem
    for name in line.values():
        flag = facts.flags.get(name)
        if name not in planned and flag is not None and overrides(flag, configuration or {}):
            planned[name] = _without_gates(line.of(name), configuration or {}) if name == FEATURE_GATES else None
    edits: list[_Edit] = []
    for name, value in planned.items():
        if name == NODE_LABELS and value is not None:
            value = _labels(line, value, prune=prune_labels)  # noqa: PLW2901 - the same flag, with all of its labels
        if value is None:
            edits += _rewrites(command_line, line.of(name), name, None)
        else:
            edits += _edits(command_line, line, facts.flags[name], value)
    return _apply(command_line, edits)


def remove_flags(command_line: str, flags: Mapping[str, str | None], version: str, *, prune_labels: bool = True) -> str:
    """Return the command line without `flags`, whatever their values.

    Of `node-labels` only the labels named go, and with `prune_labels` lockstep's own. Raises as `merge_flags`, but not
    for flags that the release does not have.
    """
    facts = minor(version)
    line = parse(command_line, facts)
    edits: list[_Edit] = []
    for name, value in flags.items():
        normal = normal_name(name)
        uses = line.of(normal)
        kept = None
        if normal == NODE_LABELS and value is not None:
            gone = pairs([value])
            labels = pairs(use.value for use in uses)
            stays = {k: v for k, v in labels.items() if k not in gone and not (prune_labels and within(k, DOMAIN))}
            kept = _text(stays) or None
        edits += _rewrites(command_line, uses, normal, kept)
    return _apply(command_line, edits)


def overrides(flag: Flag, configuration: Mapping[str, Any]) -> bool:
    """Return whether a flag overrides a field that `configuration` sets, in whole or in part."""
    if flag.field is None:
        return False
    value: Any = configuration
    for name in flag.field.split("."):
        if not isinstance(value, Mapping) or value.get(name) is None:
            return False
        value = value[name]
    return True


def value_problem(flag: Flag, value: str | None) -> str | None:
    """Return what is wrong with a flag's value, or None."""
    if flag.type == "bool":
        return (
            None if value is None or value in _TRUE | _FALSE else f"--{flag.name} is '{value}': expected true or false"
        )
    if value is None:
        return f"--{flag.name} needs a value"
    if flag.type == "int" and not re.fullmatch(r"[-+]?[0-9]+", value, re.ASCII):
        return f"--{flag.name} is '{value}': expected a whole number"
    if flag.name == "windows-priorityclass" and value not in PRIORITY_CLASSES:
        return f"--windows-priorityclass is '{value}': expected one of {', '.join(PRIORITY_CLASSES)}"
    return None


def flag_problem(name: str, value: str | None, facts: Minor) -> CommandLineError | None:
    """Return why kubelet would stop at a flag, or None where it takes it."""
    if name in facts.removed_flags:
        message = f"kubelet {facts.name} has no --{name}: it was removed in {facts.removed_flags[name]}"
        return CommandLineError(message, "leave the flag out")
    flag = facts.flags.get(name)
    if flag is None:
        elsewhere = when("flags", name, facts.number)
        near = None if elsewhere else misspelt(name, facts.flags)
        leave = f"{elsewhere}: leave it out" if elsewhere else "leave the flag out"
        fix = f"did you mean --{near}?" if near else leave
        return CommandLineError(f"kubelet {facts.name} has no --{name}", fix)
    if problem := value_problem(flag, value):
        return CommandLineError(problem, "correct the flag's value")
    return None


def planned_flag_problem(name: str, value: str, facts: Minor) -> CommandLineError | None:
    """Return why a flag cannot be put on kubelet's command line, or None where it can."""
    if _CONTROL.search(value):
        return CommandLineError(f"--{name} has a control character in its value", "write it on one line, without tabs")
    return flag_problem(name, value, facts)


def _labels(line: CommandLine, planned: str, *, prune: bool) -> str | None:
    """Return all labels that the line is to have, None for none."""
    wanted, current = pairs([planned]), pairs(use.value for use in line.of(NODE_LABELS))
    kept = {k: v for k, v in current.items() if k in wanted or not (prune and within(k, DOMAIN))}
    return _text(kept | wanted) or None


def _edits(text: str, line: CommandLine, flag: Flag, value: str) -> list[_Edit]:
    """Return the edits that give a flag this value, none where it has it."""
    name = flag.name
    uses = line.of(name)
    if name in (NODE_LABELS, FEATURE_GATES) and uses:
        if pairs(use.value for use in uses) == pairs([value]):
            return []
    elif uses and (flag.type not in ("list", "map") or len(uses) == 1) and _equal(flag, uses[-1].value, value):
        return []
    if uses:
        return _rewrites(text, uses, name, value)
    bare = flag.type == "bool" and value in _TRUE
    return [(line.end, line.end, " " + (f"--{name}" if bare else _joined(name, value)))]


def _rewrites(text: str, uses: Sequence[Use], name: str, value: str | None) -> list[_Edit]:
    """Return the edits that leave one use with this value, the last one's place, or none."""
    edits = []
    for use in uses if value is None else uses[:-1]:
        start = use.start
        while text[start - 1] in " \t":
            start -= 1
        edits.append((start, use.end, ""))
    if uses and value is not None:
        last = uses[-1]
        if last.joined:
            edits.append((last.start, last.end, _joined(name, value)))
        else:
            edits.append((last.value_start, last.end, quote(value)))
    return edits


def _joined(name: str, value: str) -> str:
    return quote(f"{'-' if name == 'v' else '--'}{name}={value}")


def _equal(flag: Flag, one: str | None, other: str) -> bool:
    if flag.type == "bool":
        return (one is None or one in _TRUE) is (other in _TRUE) and (one is None or one in _TRUE | _FALSE)
    return one == other


def _without_gates(uses: Sequence[Use], configuration: Mapping[str, Any]) -> str | None:
    gone = configuration["featureGates"]
    return _text({k: v for k, v in pairs(use.value for use in uses).items() if k not in gone}) or None


def _text(values: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in values.items())


def _apply(text: str, edits: list[_Edit]) -> str:
    pieces, at = [], 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [text[at:start], new]
        at = end
    return "".join(pieces) + text[at:]
