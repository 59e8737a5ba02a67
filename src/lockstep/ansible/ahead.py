"""What the later tasks of a play will ask a node, so that one read serves them all.

The play is looked at before its tasks come: their arguments are taken as far as they can be told by now. What cannot
be told, such as a task of an include or one with a loop, asks the node itself when its time comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError

from lockstep.ansible import containerd_node, kubelet_node, node_artifacts, windows_host
from lockstep.ansible.arguments import accepted
from lockstep.ansible.cache import play_of
from lockstep.ansible.errors import TaskError
from lockstep.ansible.spec import argument_spec
from lockstep.node.operations import Operation

Reads = Callable[[Mapping[str, Any]], list[Operation]]
Given = tuple[str, dict[str, Any]]
"""A module and the arguments that a task gives it."""

MODULES: Mapping[str, Reads] = {
    "containerd_config": containerd_node.read_operations,
    "kubelet_config": kubelet_node.read_operations,
    "node_artifacts": node_artifacts.read_operations,
    "windows_host": windows_host.read_operations,
}
"""What each module that configures a node reads, for its arguments."""


def specs(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the argument spec of each module by name, nothing required; `folder` is where their files are."""
    found = {name: argument_spec(folder / f"{name}.py") for name in MODULES}
    return {
        name: {option: {**each, "required": False} for option, each in spec.items()} for name, spec in found.items()
    }


def tasks_ahead(
    task: Any, variables: Mapping[str, Any], templar: Any, known: Mapping[str, Mapping[str, Any]]
) -> list[Given]:
    """Return what the tasks of a task's play give the modules of `known`, in their order.

    Secrets are left out, and so is what depends on something that is not known yet.
    """
    try:
        tasks = list(_tasks(play_of(task).compile()))
    except AnsibleError:
        return []
    found: list[Given] = []
    for each in tasks:
        module = str(each.action).rpartition(".")[2]
        if module in known:
            own = templar.copy_with_new_env(available_variables=_variables(each, variables))
            wanted = {name: value for name, value in each.args.items() if not known[module].get(name, {}).get("no_log")}
            found.append((module, _templated(own, wanted)))
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


def _tasks(blocks: Iterable[Any]) -> Iterator[Any]:
    for each in blocks:
        if hasattr(each, "block"):
            yield from _tasks([*each.block, *each.rescue, *each.always])
        else:
            yield each


def _variables(task: Any, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables that a task will see, as far as a task before it knows them."""
    role = task._role  # noqa: SLF001 - a task has no other name for its role
    if role is None:
        return {**variables, **task.get_vars()}
    chain = task.get_dep_chain()
    return {**role.get_default_vars(dep_chain=chain), **variables, **role.get_vars(chain), **task.get_vars()}


def _templated(templar: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments whose values are known by now. One that is `omit` goes, as it does in the task itself."""
    known: dict[str, Any] = {}
    for name, value in arguments.items():
        try:
            known |= templar.template({name: value})
        except AnsibleError:
            continue
    return known
