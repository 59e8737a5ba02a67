"""What is wrong with what a kubelet_config task is given, and with file and command line as they would be then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lockstep.ansible.errors import TaskError, listed
from lockstep.catalog.kubernetes import Minor, UnknownMinor, minor
from lockstep.catalog.versions import VersionError
from lockstep.finding import Severity
from lockstep.kubelet.check import check_command_line, check_configuration, check_fields
from lockstep.kubelet.fields import dotted, shown
from lockstep.kubelet.problem import Problem
from lockstep.kubelet.service_line import NODE_LABELS, normal_name


def refuse_wrong_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise TaskError for what kubelet would refuse, or pass over without stopping; nothing is asked of the node."""
    try:
        facts = minor(arguments["version"])
        problems = check_fields(arguments["configuration"], arguments["version"])
    except (UnknownMinor, VersionError) as error:
        raise TaskError(str(error)) from error
    if arguments["state"] != "present":
        return
    errors = [
        *(text(problem) for problem in problems if problem.severity is Severity.ERROR),
        *_labels(arguments["node_labels"]),
        *_flags(arguments["flags"], facts),
    ]
    if errors:
        raise TaskError(listed("kubelet cannot be configured like this:", errors))


def whole_problems(content: bytes | None, command_line: str, version: str) -> tuple[list[str], list[str]]:
    """Return why kubelet would not start on this file and command line, and what is questionable in them."""
    problems = check_command_line(command_line, version, native=True)
    if content is not None:
        problems = [*check_configuration(content, version, command_line), *problems]
    errors = [text(problem) for problem in problems if problem.severity is Severity.ERROR]
    return errors, [text(problem) for problem in problems if problem.severity is Severity.WARNING]


def text(problem: Problem) -> str:
    """Return a problem as one line that names its field, once."""
    where = dotted(problem.path)
    named = str(problem.path[0]) in problem.message
    message = problem.message if named else f"{where}: {problem.message}"
    return "; ".join(part for part in (message, problem.hint, problem.fix) if part)


def _labels(labels: Mapping[str, Any]) -> Iterator[str]:
    for key, value in labels.items():
        if not isinstance(value, str):
            yield f'node_labels.{key}: {shown(value)} is not text: quote it, "" for a label without a value'


def _flags(flags: Mapping[str, Any], facts: Minor) -> Iterator[str]:
    for name, value in flags.items():
        normal = normal_name(name)
        flag = facts.flags.get(normal)
        if value is None or flag is None:
            continue
        if normal == NODE_LABELS:
            yield f"flags.{name}: labels are given in node_labels"
        elif flag.field:
            yield f"flags.{name}: that is a field, which a flag would override: give {flag.field} in configuration"
