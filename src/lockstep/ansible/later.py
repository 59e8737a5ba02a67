"""What later tasks of a play would refuse, told before the first change: a node is not changed by half of a play.

A task is judged only where it is sure to come as it stands: no condition, loop or rescue decides of it, nothing before
it may set variables, and all that it is given is known by now. What its module refuses without a look at the node, it
would refuse then as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lockstep.ansible.arguments import accepted
from lockstep.ansible.artifacts import install as artifacts
from lockstep.ansible.containerd import configure as containerd
from lockstep.ansible.errors import TaskError
from lockstep.ansible.kubelet import checks as kubelet
from lockstep.ansible.play import evaluated, module_of, play_of, tasks_of, variables_of
from lockstep.ansible.spec import argument_spec
from lockstep.ansible.windows_host import arguments as windows_host

REFUSALS: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
    "containerd_config": containerd.refuse_wrong_arguments,
    "kubelet_config": kubelet.refuse_wrong_arguments,
    "node_artifacts": artifacts.refuse_wrong_arguments,
    "windows_host": windows_host.refuse_wrong_arguments,
}
"""What each module that configures a node refuses of its arguments alone."""
_SETS_NO_VARIABLE = frozenset(
    {
        *REFUSALS,
        *("containerd_config_info", "kubelet_config_info", "lockstep_node_info", "runtimeclass_manifests"),
        *("assert", "debug", "meta", "validate_argument_spec"),
    }
)
"""Modules after which a task is given what it would be given before them."""


class LaterTaskError(Exception):
    """A later task would be refused; the text says which and why.

    It is no TaskError, because what carries out a change adds to those which step of it failed: none has begun.
    """


def refuse_later(task: Any, variables: Mapping[str, Any], templar: Any, library: Path) -> None:
    """Raise LaterTaskError for what later tasks of a task's play would refuse; `library` is where their modules are."""
    refused = [(each, _refusal(each, variables, templar, library)) for each in _sure(task, variables)]
    told = [f"{each.get_name()}, which comes later in this play:\n{error}" for each, error in refused if error]
    if told:
        raise LaterTaskError("\n".join(["this task changed nothing, because a later one would be refused.", *told]))


def _refusal(task: Any, variables: Mapping[str, Any], templar: Any, library: Path) -> TaskError | None:
    """Return why a task would be refused. Secrets are not evaluated for that: looking one up may make another one."""
    module = module_of(task)
    spec = argument_spec(library / f"{module}.py")
    wanted = {name: value for name, value in task.args.items() if not spec.get(name, {}).get("no_log")}
    given, unknown = evaluated(wanted, variables_of(task, variables), templar)
    if unknown:
        return None
    try:
        REFUSALS[module](accepted(module, spec, given))
    except TaskError as error:
        return error
    return None


def _sure(task: Any, variables: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the later tasks of REFUSALS that will come as they stand."""
    play = play_of(task)
    tasks = iter(tasks_of(play))
    if not any(each._uuid == task._uuid for each in tasks):  # noqa: SLF001 - what Ansible itself knows a task by
        return
    for each in tasks:
        module = module_of(each)
        if not each.evaluate_tags(play.only_tags, play.skip_tags, variables):
            continue
        if module not in _SETS_NO_VARIABLE:
            return
        # What becomes of a task with no_log is for nobody to read.
        if module in REFUSALS and not _depends(each) and not each.no_log:
            yield each


def _depends(task: Any) -> bool:
    """Return whether something decides if a task is carried out for this host, or if the play goes on without it."""
    return bool(task.when or task.loop is not None or task.run_once or task.ignore_errors or _rescued(task))


def _rescued(task: Any) -> bool:
    """Return whether a block catches what goes wrong in a task, or the task is what it does then."""
    parent = task
    while (parent := getattr(parent, "_parent", None)) is not None:
        if getattr(parent, "rescue", None):
            return True
    return False
