"""What the later tasks of a play will ask a node, so that one read serves them all.

The play is looked at before its tasks come: their arguments are taken as far as they can be told by now. What cannot
be told, such as a task of an include or one with a loop, asks the node itself when its time comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from lockstep.ansible.arguments import accepted
from lockstep.ansible.artifacts import install
from lockstep.ansible.containerd import node as containerd_node
from lockstep.ansible.errors import TaskError
from lockstep.ansible.kubelet import node as kubelet_node
from lockstep.ansible.play import evaluated, module_of, play_of, tasks_of, variables_of
from lockstep.ansible.spec import argument_spec
from lockstep.ansible.windows_host import configure as windows_host
from lockstep.node.operations import Operation

Reads = Callable[[Mapping[str, Any]], list[Operation]]
Given = tuple[str, dict[str, Any]]
"""A module and the arguments that a task gives it."""

MODULES: Mapping[str, Reads] = {
    "containerd_config": containerd_node.read_operations,
    "kubelet_config": kubelet_node.read_operations,
    "node_artifacts": install.read_operations,
    "windows_host": windows_host.read_operations,
}
"""What each module that configures a node reads, for its arguments."""


_DECIDE_NOTHING = frozenset(
    {
        *("backup", "host", "state", "timeout", "version"),
        *("default_handler", "handlers", "pause_image"),
        *("configuration", "flags", "node_labels"),
        *("min_free_disk_gb", "min_memory_mb", "min_processors", "reboot", "reboot_timeout"),
    }
)
"""Arguments that decide nothing of what is read. Most depend on the plan, and would be evaluated for nothing."""


def specs(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the argument spec of each module by name, nothing required; `folder` is where their files are.

    What the modules load on their first use is loaded here, in the process that all tasks are forked from.
    """
    found = {name: argument_spec(folder / f"{name}.py") for name in MODULES}
    optional = {
        name: {option: {**each, "required": False} for option, each in spec.items()} for name, spec in found.items()
    }
    for name, spec in found.items():
        needed = (option for option, each in spec.items() if each.get("required") and each["type"] == "list")
        asked_ahead([(name, dict.fromkeys(needed, ()))], optional)
    return optional


def tasks_ahead(
    task: Any, variables: Mapping[str, Any], templar: Any, known: Mapping[str, Mapping[str, Any]]
) -> list[Given]:
    """Return what the tasks of a task's play give the modules of `known`, in their order.

    Secrets are left out, and so is what depends on something that is not known yet.
    """
    found: list[Given] = []
    for each in tasks_of(play_of(task)):
        module = module_of(each)
        if module in known:
            wanted = {
                name: value
                for name, value in each.args.items()
                if name not in _DECIDE_NOTHING and not known[module].get(name, {}).get("no_log")
            }
            known_by_now, _ = evaluated(wanted, variables_of(each, variables), templar)
            found.append((module, known_by_now))
    return found


def asked_ahead(given: Iterable[Given], known: Mapping[str, Mapping[str, Any]]) -> list[Operation]:
    """Return what these tasks will read; a task that cannot be as it is given will say so itself."""
    asked: list[Operation] = []
    for module, arguments in given:
        try:
            asked += MODULES[module](accepted(module, known[module], arguments))
        except (TaskError, LookupError, TypeError, ValueError, AttributeError):
            continue
    return asked
