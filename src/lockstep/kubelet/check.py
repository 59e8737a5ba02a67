"""What is wrong with planned KubeletConfiguration fields, a whole file, or a service's command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lockstep.catalog.kubernetes import Minor, minor
from lockstep.finding import Severity
from lockstep.k8s.labels import key_problem, kubelet_label_problem, value_problem
from lockstep.kubelet import resource_rules, value_rules, windows_rules
from lockstep.kubelet.command_line import flag_problem, overrides
from lockstep.kubelet.configuration import inspect_configuration
from lockstep.kubelet.fields import WRONG_TYPE, check_shape
from lockstep.kubelet.flag_values import with_flags
from lockstep.kubelet.problem import Problem
from lockstep.kubelet.service_line import NODE_LABELS, CommandLine, pairs, parse
from lockstep.kubelet.settings import Settings

REMOVED_FLAG = "LW330"
UNKNOWN_FLAG = "LW331"
STRAY_ARGUMENT = "LW332"
FLAG_VALUE = "LW333"
NODE_LABEL = "LW334"
OVERRIDING_FLAG = "LW335"
MISSING_FLAG = "LW336"

_RULES = (*windows_rules.RULES, *resource_rules.RULES, *value_rules.RULES)


def check_fields(fields: Mapping[str, Any], version: str) -> list[Problem]:
    """Return what is wrong with fields that are to be merged into a KubeletConfiguration for `version`.

    A field that the release does not have is an error, because kubelet would only log it. A field that is None is being
    removed and is not looked at. Raises UnknownMinor for an unknown `version`.
    """
    facts = minor(version)
    present = {name: value for name, value in fields.items() if value is not None}
    return _check(present, facts, Severity.ERROR, whole=False)


def check_configuration(data: bytes, version: str, command_line: str | None = None) -> list[Problem]:
    """Return what is wrong with a whole KubeletConfiguration file for `version`; its errors keep kubelet from starting.

    With `command_line`, that of the service, a field counts as what a flag makes of it. Raises KubeletConfigError for
    a file that cannot be read, CommandLineError for a line that does not start kubelet, UnknownMinor for an unknown
    `version`.
    """
    facts = minor(version)
    fields = inspect_configuration(data).fields
    if command_line is not None:
        fields = with_flags(fields, parse(command_line, facts), facts)
    return _check(fields, facts, Severity.WARNING, whole=True)


def check_command_line(
    command_line: str, version: str, configuration: Mapping[str, Any] | None = None, *, native: bool = False
) -> list[Problem]:
    """Return what is wrong with the command line of kubelet's service; `path` names the flag.

    With `configuration`, the planned fields, also the flags that override one of them: `merge_flags` takes those off.
    `native` says that the line is a service's own, so that no wrapper starts it. Raises CommandLineError for a
    line that does not start kubelet, UnknownMinor for an unknown `version`.
    """
    facts = minor(version)
    line = parse(command_line, facts)
    return [*_flags(line, facts), *_overriding(line, facts, configuration or {}), *_missing(line, native=native)]


def _check(fields: Mapping[str, Any], facts: Minor, passed_over: Severity, *, whole: bool) -> list[Problem]:
    shape = list(check_shape(fields, facts, passed_over))
    mistyped = {problem.path[0] for problem in shape if problem.rule == WRONG_TYPE}
    sound = {
        name: _without_null(value) for name, value in fields.items() if name not in mistyped and name in facts.fields
    }
    settings = Settings(sound, facts, whole)
    found = shape + [problem for rule in _RULES for problem in rule(settings)]
    return [problem for problem in found if problem.path[0] not in mistyped or problem in shape]


def _without_null(value: Any) -> Any:
    """Return a value whose mappings lack what is null in them: that is being removed, or was never set."""
    if isinstance(value, Mapping):
        return {key: _without_null(item) for key, item in value.items() if item is not None}
    return [_without_null(item) for item in value] if isinstance(value, list | tuple) else value


def _flags(line: CommandLine, facts: Minor) -> Iterator[Problem]:
    for text in line.stray:
        message = f"'{text}' is no flag: kubelet stops at it"
        yield Problem(
            STRAY_ARGUMENT, Severity.ERROR, (text,), message, "take it off, or put the value it belongs to in quotes"
        )
    for use in line.uses:
        path = (use.name,)
        if not use.dashed:
            yield Problem(
                UNKNOWN_FLAG,
                Severity.ERROR,
                path,
                f"-{use.name} has one dash: kubelet stops at it",
                f"write --{use.name}",
            )
        elif use.name in facts.removed_flags:
            message = f"--{use.name} was removed in {facts.removed_flags[use.name]}: kubelet {facts.name} stops at it"
            yield Problem(REMOVED_FLAG, Severity.ERROR, path, message, "take it off")
        elif problem := flag_problem(use.name, use.value, facts):
            rule = FLAG_VALUE if use.name in facts.flags else UNKNOWN_FLAG
            yield Problem(rule, Severity.ERROR, path, f"{problem.message}: kubelet stops at it", problem.fix)
    for key, value in pairs(use.value for use in line.of(NODE_LABELS)).items():
        if wrong := key_problem(key) or value_problem(value) or kubelet_label_problem(key):
            yield Problem(
                NODE_LABEL, Severity.ERROR, (NODE_LABELS, key), f"--node-labels: {wrong}", "take the label off"
            )


def _overriding(line: CommandLine, facts: Minor, configuration: Mapping[str, Any]) -> Iterator[Problem]:
    for name, value in line.values().items():
        flag = facts.flags.get(name)
        if flag is not None and overrides(flag, configuration):
            message = f"--{name}={value} overrides {flag.field} in the configuration file"
            yield Problem(
                OVERRIDING_FLAG, Severity.WARNING, (name,), message, f"take the flag off: {flag.field} is in the file"
            )


def _missing(line: CommandLine, *, native: bool) -> Iterator[Problem]:
    """Yield what a native service needs, as far as no wrapper starts kubelet and flags alone do not configure it."""
    values = line.values()
    if values.get("windows-service", "false") not in ("true", "1", "t", "T", "TRUE", "True"):
        message = "without --windows-service the service control manager ends kubelet while it starts"
        fix = "add --windows-service"
        if not native:
            message += ", unless a wrapper such as nssm starts it"
            fix += " where kubelet.exe itself is the service"
        severity = Severity.ERROR if native else Severity.WARNING
        yield Problem(MISSING_FLAG, severity, ("windows-service",), message, fix)
    if not values.get("config") and not values.get("config-dir"):
        message = "without --config kubelet reads no configuration file: its flags and defaults alone count"
        fix = "add --config with the file's path, or let the flags say everything"
        yield Problem(MISSING_FLAG, Severity.WARNING, ("config",), message, fix)
