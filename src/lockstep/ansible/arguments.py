"""A task's arguments: what is wrong with them is told by their own names, whatever the node's contract calls them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.validation import check_type_bool, check_type_dict, check_type_int

from lockstep.ansible.errors import TaskError, listed
from lockstep.ansible.plain import to_plain
from lockstep.node.contract import contract
from lockstep.words import nearest, shortened

_WINDOWS_PATHS = (
    "path",
    "crictl",
    "program",
    "kubeconfig",
    "log_file",
    "config_dir",
    "credential_provider_dir",
    "nssm",
    "registry_path",
)
_SECONDS = "timeout"


def accepted(module: str, spec: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a module's arguments as plain data, defaults filled in.

    Raises TaskError that names every argument which is unknown, or is not what `spec` and the node's contract want.
    """
    try:
        plain = to_plain(given)
    except TypeError as error:
        raise TaskError(f"{module} cannot be given this: {error}") from error
    problems = list(_problems(spec, plain, ""))
    # Ansible's own check names its internal types, so it is asked only where these are as they should be.
    result = ArgumentSpecValidator(spec).validate({} if problems else plain)
    problems = problems or result.error_messages
    arguments: dict[str, Any] = to_plain(result.validated_parameters)
    problems = problems or list(_limits(arguments))
    if problems:
        raise TaskError(listed(f"{module} cannot be given these arguments:", problems))
    return arguments


def _problems(spec: Mapping[str, Any], given: Mapping[Any, Any], where: str) -> Iterator[str]:
    for name, value in given.items():
        option = spec.get(name)
        if option is None:
            near = nearest(str(name), spec)
            meant = f"did you mean '{near}'?" if near else f"there are {', '.join(sorted(spec))}"
            yield f"{where}{name}: there is no such argument; {meant}"
        elif value is not None:
            yield from _wrong(option, value, f"{where}{name}")


def _wrong(option: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    kind = option["type"]
    if kind == "list" and option.get("elements") == "dict":
        if not isinstance(value, Sequence) or isinstance(value, str):
            yield f"{where}: expected a list of mappings{_got(option, value)}"
            return
        for index, item in enumerate(value):
            if isinstance(item, Mapping):
                yield from _problems(option["options"], item, f"{where}[{index}].")
            else:
                yield f"{where}[{index}]: expected a mapping{_got(option, item)}"
        return
    expected, fits = _KINDS[kind]
    if not fits(value):
        yield f"{where}: expected {expected}{_got(option, value)}"
    elif kind == "dict" and "options" in option and isinstance(value, Mapping):
        yield from _problems(option["options"], value, f"{where}.")


def _got(option: Mapping[str, Any], value: Any) -> str:
    """Return what was given instead, but not where a secret was expected: it may be one in another form."""
    return "" if option.get("no_log") else f", got {_shown(value)}"


def _limits(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an operation of the contract would refuse."""
    limits = contract()["operations"]["program.check"]["arguments"]["properties"]
    for name in _WINDOWS_PATHS:
        path = arguments.get(name)
        if path and not re.match(limits["path"]["pattern"], path):
            example = r"C:\folder\file, with backslashes"
            yield f"{name}: '{shortened(path)}' is no full Windows path: expected one such as {example}"
    least, most = limits["timeout_seconds"]["minimum"], limits["timeout_seconds"]["maximum"]
    if not least <= arguments.get(_SECONDS, least) <= most:
        yield f"{_SECONDS}: {arguments[_SECONDS]} is out of range: expected {least} to {most} seconds"
    if arguments.get("service") == "":
        yield "service: expected a service's name, got nothing"


def _passes(check: Callable[[Any], Any]) -> Callable[[Any], bool]:
    def passes(value: Any) -> bool:
        try:
            check(value)
        except (TypeError, ValueError):
            return False
        return True

    return passes


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence)


def _is_text(value: Any) -> bool:
    return not isinstance(value, Mapping | list | bool)


_KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "bool": ("true or false", _passes(check_type_bool)),
    "dict": ("a mapping", _passes(check_type_dict)),
    "int": ("a whole number", lambda value: not isinstance(value, bool) and _passes(check_type_int)(value)),
    "list": ("a list", _is_list),
    "path": ("text", _is_text),
    "raw": ("anything", lambda _: True),
    "str": ("text", _is_text),
}
"""What each type of an argument spec is called, and whether a value will do, as text of a command line does too."""


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return f"'{shortened(value)}'" if isinstance(value, str) else str(value)
