"""A play as it stands before its tasks come: which they are, and what they are given as far as that is known by now."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible.errors import AnsibleError

from lockstep.ansible.plain import to_plain

_VARIABLE = re.compile(r"\{\{ ([a-z_][a-z0-9_]*) \}\}", re.ASCII)


def play_of(task: Any) -> Any:
    """Return a task's play, which its blocks know."""
    parent = task
    while not hasattr(parent, "_play"):
        parent = parent._parent  # noqa: SLF001 - neither has another name
    return parent._play  # noqa: SLF001


def tasks_of(play: Any) -> list[Any]:
    """Return a play's tasks in their order, those of its roles among them; those of an include are not known yet."""
    try:
        return list(_tasks(play.compile()))
    except AnsibleError:
        return []


def module_of(task: Any) -> str:
    """Return the name of a task's module, without its collection."""
    return str(task.action).rpartition(".")[2]


def variables_of(task: Any, variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables that a task will see, as far as a task before it knows them."""
    role = task._role  # noqa: SLF001 - a task has no other name for its role
    if role is None:
        return {**variables, **task.get_vars()}
    chain = task.get_dep_chain()
    return {**role.get_default_vars(dep_chain=chain), **variables, **role.get_vars(chain), **task.get_vars()}


def evaluated(
    arguments: Mapping[str, Any], variables: Mapping[str, Any], templar: Any
) -> tuple[dict[str, Any], set[str]]:
    """Return the arguments whose values are known by now, and the names of the others.

    One that is `omit` is in neither, as it goes in the task itself.
    """
    known: dict[str, Any] = {}
    unknown: set[str] = set()
    own = templar.copy_with_new_env(available_variables=variables)
    for name, value in arguments.items():
        plain = _plain(value, variables)
        try:
            known |= {name: plain} if plain is not None else own.template({name: value})
        except AnsibleError:
            unknown.add(name)
    return known, unknown


def _tasks(blocks: Iterable[Any]) -> Iterator[Any]:
    for each in blocks:
        if hasattr(each, "block"):
            yield from _tasks([*each.block, *each.rescue, *each.always])
        else:
            yield each


def _plain(value: Any, variables: Mapping[str, Any]) -> Any:
    """Return the value of an expression that only names a variable whose own value holds no expression, else None.

    That is what most arguments of a role are, and evaluating an expression takes milliseconds.
    """
    match = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    named = variables.get(match[1]) if match else value
    try:
        plain = to_plain(named)
    except TypeError:
        return None
    text = repr(plain)
    return None if "{{" in text or "{%" in text else plain
