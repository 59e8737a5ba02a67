"""What a kubelet_config task does: read the node, merge the plan into what it has, apply what differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.ansible.errors import TaskError
from lockstep.ansible.kubelet.checks import refuse_wrong_arguments
from lockstep.ansible.kubelet.desired import Desired, desired
from lockstep.ansible.kubelet.node import TRANSACTION, KubeletNode, read_node
from lockstep.ansible.kubelet.require import missing_programs, require
from lockstep.ansible.kubelet.service import log_file
from lockstep.ansible.kubelet.steps import steps_to
from lockstep.ansible.kubelet.too_late import too_late
from lockstep.ansible.node import apply, file_diff, restarts
from lockstep.ansible.text import shown_command_line, shown_yaml
from lockstep.node.session import Session


def configure(session: Session, arguments: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the task's result; the node is changed unless in check mode or nothing is to be done.

    Raises TaskError where the node cannot be configured like this; it is then as it was.
    """
    refuse_wrong_arguments(arguments)
    node = read_node(session, arguments)
    expected = require(node, arguments, check_mode=check_mode)
    wanted = desired(node, arguments)
    missing = missing_programs(node, arguments, wanted, check_mode=check_mode)
    steps = steps_to(node, wanted, arguments)
    if wanted.errors and restarts(steps):
        facts = {"node": str(node.system), "because": "\n".join(wanted.errors)}
        raise TaskError("kubelet would not start on what would be in its file and command line then", facts)
    late = too_late(node, wanted.content, wanted.line, arguments["version"])
    result = {
        "changed": bool(steps),
        "path": node.path,
        "version": node.version or arguments["version"],
        "command_line": shown_command_line(wanted.line),
        "wrapper": wanted.wrapper,
        "joined": wanted.joined,
        "registered": node.registered(arguments["version"]),
        "node": node.system.data(),
        "steps": [step.label for step in steps],
        "restarted": restarts(steps),
        "backups": [],
        "warnings": [*expected, *missing, *wanted.warnings, *(wanted.told if steps else ()), *late],
        "diff": _diff(node, wanted) if steps else [],
    }
    if steps and not check_mode:
        log = log_file(wanted.service)
        result["backups"] = list(apply(session, TRANSACTION, steps, node.system, "kubelet", log=log).backups)
    return result


def _diff(node: KubeletNode, wanted: Desired) -> list[dict[str, str]]:
    diff = [file_diff(node.path, shown_yaml(node.content), shown_yaml(wanted.content))]
    diff += [file.diff() for file in wanted.files if file.changed]
    return diff + wanted.service.diff(node)
