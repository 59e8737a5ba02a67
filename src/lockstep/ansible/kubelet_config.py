"""What a kubelet_config task does: read the node, merge the plan into file and command line, apply what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.ansible.errors import TaskError
from lockstep.ansible.kubelet_checks import refuse_wrong_arguments, whole_problems
from lockstep.ansible.kubelet_node import TRANSACTION, KubeletNode, read_node
from lockstep.ansible.node import Step, apply, file_diff, restarts
from lockstep.ansible.text import shown_command_line, shown_yaml
from lockstep.kubelet.command_line import merge_flags, remove_flags
from lockstep.kubelet.configuration import inspect_configuration, merge_configuration, remove_configuration
from lockstep.kubelet.problem import CommandLineError, KubeletConfigError
from lockstep.kubelet.service_line import NODE_LABELS, pairs, parse_command_line
from lockstep.node.operations import configure_service, restart_service, write_file
from lockstep.node.session import Session

_TAINTS = "registerWithTaints"


@dataclass(frozen=True, slots=True)
class _Desired:
    """What file and command line are to be."""

    content: bytes | None
    command_line: str


def configure(session: Session, arguments: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the task's result; the node is changed unless in check mode or nothing is to be done.

    Raises TaskError where the node cannot be configured like this; it is then as it was.
    """
    refuse_wrong_arguments(arguments)
    node = read_node(session, arguments)
    node.require(arguments["version"], arguments["host"])
    desired = _desired(node, arguments)
    steps = _steps(node, desired, arguments)
    warnings = _checked(node, desired, arguments["version"], restarting=restarts(steps))
    result = {
        "changed": bool(steps),
        "path": node.path,
        "version": node.version,
        "command_line": shown_command_line(desired.command_line),
        "registered": node.registered,
        "node": node.system.data(),
        "steps": [step.label for step in steps],
        "restarted": restarts(steps),
        "backups": [],
        "warnings": [*warnings, *_too_late(node, desired, arguments["version"])],
        "diff": _diff(node, desired) if steps else [],
    }
    if steps and not check_mode:
        result["backups"] = list(apply(session, TRANSACTION, steps, node.system, "kubelet").backups)
    return result


def _checked(node: KubeletNode, desired: _Desired, version: str, *, restarting: bool) -> list[str]:
    """Return what is questionable in the whole file and command line.

    Raises TaskError where kubelet is to be started and would not start on them.
    """
    errors, warnings = whole_problems(desired.content, desired.command_line, version)
    if errors and restarting:
        facts = {"node": str(node.system), "because": "\n".join(errors)}
        raise TaskError("kubelet would not start on what would be in its file and command line then", facts)
    return warnings


def _desired(node: KubeletNode, arguments: Mapping[str, Any]) -> _Desired:
    version, fields = arguments["version"], arguments["configuration"]
    flags = {name: _flag(value) for name, value in arguments["flags"].items()}
    labels, prune = arguments["node_labels"], arguments["prune_node_labels"]
    if labels or prune:
        flags[NODE_LABELS] = ",".join(f"{key}={_flag(value) or ''}" for key, value in labels.items())
    try:
        if arguments["state"] == "present":
            content: bytes | None = merge_configuration(node.content, fields, version)
            line = merge_flags(node.service.binary_path, flags, version, fields, prune_labels=prune)
        else:
            content = remove_configuration(node.content, fields, version)
            line = remove_flags(node.service.binary_path, flags, version, prune_labels=prune)
    except (KubeletConfigError, CommandLineError) as error:
        what = node.path if isinstance(error, KubeletConfigError) else f"command line of service {node.service.name}"
        facts = {"node": str(node.system), "where": what, "it says": str(error)}
        raise TaskError("kubelet cannot be configured like this, so it was left alone", facts) from error
    return _Desired(content, line)


def _flag(value: Any) -> str | None:
    """Return a flag's value as kubelet reads it."""
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _steps(node: KubeletNode, desired: _Desired, arguments: Mapping[str, Any]) -> list[Step]:
    """Return what has to be done: a run that was interrupted is completed even if everything is right already.

    What is taken away from a stopped service is no reason to start it.
    """
    service = node.service
    new_file, new_line = desired.content != node.content, desired.command_line != service.binary_path
    absent = arguments["state"] == "absent" and not service.running
    if not (new_file or new_line or node.pending) and (service.running or absent):
        return []
    steps = []
    if desired.content is not None and (new_file or node.pending):
        write = write_file(node.path, desired.content, replaces=node.content, backup=arguments["backup"] and new_file)
        steps.append(Step(f"write {node.path}", write))
    if new_line or node.pending:
        line = configure_service(service.name, desired.command_line, replaces=service.binary_path)
        steps.append(Step(f"set the command line of service {service.name}", line))
    if absent and not node.pending:
        return steps
    restart = restart_service(service.name, timeout_seconds=arguments["timeout"])
    return [*steps, Step(f"restart service {service.name}", restart)]


def _diff(node: KubeletNode, desired: _Desired) -> list[dict[str, str]]:
    diff = [file_diff(node.path, shown_yaml(node.content), shown_yaml(desired.content))]
    if desired.command_line != node.service.binary_path:
        lines = (node.service.binary_path, desired.command_line)
        before, after = (f"{shown_command_line(line)}\n" for line in lines)
        diff.append(file_diff(f"command line of service {node.service.name}", before, after))
    return diff


def _too_late(node: KubeletNode, desired: _Desired, version: str) -> list[str]:
    """Return how the cluster is told what kubelet will not tell it, because it has registered its node already.

    Source: kubernetes/kubernetes pkg/kubelet/kubelet_node_status.go, tryRegisterWithAPIServer.
    """
    if not node.registered:
        return []
    name = node.node_name(version)
    before, after = (_labels(line, version) for line in (node.service.binary_path, desired.command_line))
    labels = [f"{key}={value}" for key, value in after.items() if before.get(key) != value]
    labels += [f"{key}-" for key in before if key not in after]
    old, new = _taints(node.content), _taints(desired.content)
    taints = [*(text for text in new if text not in old), *(f"{text}-" for text in old if text not in new)]
    commands = []
    if labels:
        commands.append(f"kubectl label node {name} --overwrite {' '.join(labels)}")
    if taints:
        commands.append(f"kubectl taint nodes {name} --overwrite {' '.join(taints)}")
    if not commands:
        return []
    what = " and ".join(text for text, there in (("labels", labels), ("taints", taints)) if there)
    return [f"kubelet gives its node {what} only when it registers it, and {name} is registered: {'; '.join(commands)}"]


def _labels(command_line: str, version: str) -> dict[str, str]:
    return pairs([parse_command_line(command_line, version).values().get(NODE_LABELS)])


def _taints(content: bytes | None) -> list[str]:
    """Return the taints as kubectl writes them, without what a person's file has there that is no taint."""
    fields = inspect_configuration(content).fields if content else {}
    found = fields.get(_TAINTS)
    return [
        f"{taint['key']}{'=' if taint.get('value') else ''}{taint.get('value') or ''}:{taint['effect']}"
        for taint in (found if isinstance(found, list) else ())
        if isinstance(taint, Mapping) and taint.get("key") and taint.get("effect")
    ]
