"""What a containerd_config task does: read the node, compare with the plan, apply what differs as one transaction."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lockstep.ansible.containerd.effective import imports_files, not_in_effect
from lockstep.ansible.containerd.node import (
    KEEP,
    TRANSACTION,
    ContainerdNode,
    address,
    beside,
    check_answer,
    dump_arguments,
    info_arguments,
    managed,
    read_node,
)
from lockstep.ansible.containerd.registries import RegistriesPlan, planned_registries
from lockstep.ansible.containerd.service import (
    ServicePlan,
    log_of,
    planned_service,
    refuse_wrong_service,
    wrapper_problem,
)
from lockstep.ansible.errors import TaskError, in_role, listed
from lockstep.ansible.node import Step, apply, file_diff, restarts
from lockstep.ansible.text import shown_toml
from lockstep.catalog.containerd import UnknownSeries, series
from lockstep.catalog.versions import VersionError
from lockstep.containerd import (
    ContainerdConfigError,
    Settings,
    SettingsError,
    View,
    inspect,
    is_too_new,
    merge,
    remove,
    settings_from_data,
)
from lockstep.node.operations import check_program, restart_service, write_file
from lockstep.node.session import Session

_SETTINGS = (
    "handlers",
    "default_handler",
    "pause_image",
    "exclusive_handlers",
    "snapshotters",
    "shim_log_level",
    "log_level",
    "metrics_address",
    "imports",
)
# A person's handler may have another name, which releases print in different quotes.
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PARSE_SECONDS = 30
"""How long containerd may take to read a file: the first start of a program on Windows is scanned for viruses."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The file as it is to be (None: there is none), what else is to be done, and all steps in their order."""

    content: bytes | None
    service: ServicePlan
    registries: RegistriesPlan
    steps: tuple[Step, ...] = ()


def configure(session: Session, arguments: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the task's result; the node is changed unless in check mode or nothing is to be done.

    Raises TaskError where the node cannot be configured like this; it is then as it was.
    """
    settings = refuse_wrong_arguments(arguments)
    node = read_node(session, arguments)
    notes = _require(node, arguments, check_mode=check_mode)
    plan = _planned(session, node, settings, arguments)
    result = _result(node, plan, arguments)
    warnings = [*notes, *_warnings(node, plan.content, settings, arguments), *plan.registries.warnings]
    applied = bool(plan.steps) and not check_mode
    if applied:
        log = log_of(node, arguments)
        done = apply(session, TRANSACTION, plan.steps, node.system, "containerd", log=log)
        result["backups"] = list(done.backups)
    new_file = plan.content != node.content
    # A file that does not import others has in effect what it says, as `containerd config dump` saw before the restart.
    if not new_file or (applied and imports_files(plan.content)):
        warnings += not_in_effect(session, node, settings, arguments, changed=applied and new_file)
    result["warnings"] = warnings
    return result


def refuse_wrong_arguments(arguments: Mapping[str, Any]) -> Settings:
    """Return the settings that a task states. Raises TaskError for what cannot be; nothing is asked of the node."""
    settings = _settings(arguments)
    if managed(arguments):
        refuse_wrong_service(arguments)
    return settings


def _settings(arguments: Mapping[str, Any]) -> Settings:
    data = {key: None if arguments[key] == KEEP else arguments[key] for key in _SETTINGS}
    if arguments["registries"]:
        data["registry_path"] = arguments["registry_path"]
    try:
        return settings_from_data(data, arguments["version"])
    except SettingsError as error:
        raise TaskError(listed("the settings cannot be like this:", error.problems)) from error
    except (UnknownSeries, VersionError) as error:
        raise TaskError(str(error)) from error


def _require(node: ContainerdNode, arguments: Mapping[str, Any], *, check_mode: bool) -> list[str]:
    """Return what an earlier role would have to do first, in check mode; otherwise raise TaskError for it.

    Raises TaskError in check mode too where the node is none that can be configured like this.
    """
    node.system.require(arguments["host"])
    if not managed(arguments):
        node.require_service()
    node.require_file()
    if managed(arguments) and arguments["state"] == "absent" and node.version is None and node.content is None:
        return []
    problems = [node.version_problem(arguments["version"])]
    if managed(arguments) and node.version is None:
        missing = f"there is no containerd.exe at {arguments['program']}, or it does not tell its version"
        option = in_role("program", "containerd_program")
        problems = [(missing, f"run the role artifacts first, which installs it, or set {option} to where it is")]
    if managed(arguments):
        problems.append(wrapper_problem(node, arguments))
    notes = []
    for problem in problems:
        if problem is not None and not (check_mode and managed(arguments)):
            raise node.fail(*problem)
        if problem is not None:
            notes.append(f"{problem[0]}: in check mode that is only noted, since an earlier role may install it")
    return notes


def _planned(session: Session, node: ContainerdNode, settings: Settings, arguments: Mapping[str, Any]) -> _Plan:
    content = _desired(node, settings, arguments)
    present = arguments["state"] == "present"
    service = planned_service(node, arguments) if managed(arguments) and present else ServicePlan()
    registries = planned_registries(session, node.registries, arguments)
    plan = _Plan(content, service, registries)
    return replace(plan, steps=tuple(_steps(node, plan, arguments)))


def _desired(node: ContainerdNode, settings: Settings, arguments: Mapping[str, Any]) -> bytes | None:
    change = merge if arguments["state"] == "present" else remove
    try:
        return change(node.content, settings, arguments["version"])
    except ContainerdConfigError as error:
        facts = {"node": str(node.system), "file": node.path, "it says": str(error)}
        raise TaskError("the configuration on the node cannot be changed, so it was left alone", facts) from error


def _steps(node: ContainerdNode, plan: _Plan, arguments: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what has to be done: a run that was interrupted is completed even if the file is right already.

    What is taken away from a stopped service is no reason to start it; what containerd reads at every pull is none to
    restart it.
    """
    after, timeout = plan.content, arguments["timeout"]
    changed = after != node.content
    stays_down = arguments["state"] == "absent" and not node.service.running
    restart = changed or plan.service.restart or node.pending or not node.service.running
    if after is not None and (changed or node.pending or (restart and not stays_down)):
        backup = changed and (arguments["backup"] or _goes_back(node, arguments))
        yield Step(f"write {node.path}", write_file(node.path, after, replaces=node.content, backup=backup))
        yield _parsed(node, after, timeout)
    yield from plan.service.steps
    if restart and not (stays_down and not node.pending):
        name = node.service.name
        label = f"{'restart' if node.service.running else 'start'} service {name}"
        yield Step(label, restart_service(name, timeout_seconds=timeout))
        if after is not None:
            yield _healthy(node, after, arguments)
    # Last, so that no secret stays in a `.rejected` file because something else failed.
    yield from plan.registries.steps


def _parsed(node: ContainerdNode, after: bytes, timeout: int) -> Step:
    """Return the step in which containerd reads the file, before the service that runs on the old one is stopped."""
    handlers = [f".runtimes.{name}]" for name in inspect(after).handlers if _BARE.fullmatch(name)]
    check = check_program(
        node.program,
        dump_arguments(node.path),
        must_contain=handlers,
        timeout_seconds=min(timeout, _PARSE_SECONDS),
    )
    return Step("have containerd.exe read the new file", check)


def _healthy(node: ContainerdNode, after: bytes, arguments: Mapping[str, Any]) -> Step:
    timeout, pipe = arguments["timeout"], address(after, node.address_flag)
    if node.crictl is None:
        return Step("have containerd answer ctr", check_answer(beside(arguments, "ctr.exe"), pipe, timeout))
    names = [f'"{name}":' for name in inspect(after).handlers]
    check = check_program(node.crictl, info_arguments(pipe), must_contain=names, timeout_seconds=timeout)
    return Step("have containerd list its handlers", check)


def _warnings(node: ContainerdNode, after: bytes | None, settings: Settings, arguments: Mapping[str, Any]) -> list[str]:
    """Return what is questionable in the file as it is to be, or was in the one that is there."""
    if after is None:
        return []
    version = arguments["version"]
    view = inspect(after, version)
    found = list(view.warnings)
    if _goes_back(node, arguments):
        found.append(
            f"{node.path} is of version {inspect(node.content or b'').config_version}, which containerd {version} does "
            f"not read: it is rewritten in version {view.config_version}, without comments, and the former file is "
            "kept beside it as .bak"
        )
    if (node.content or b"").startswith(BOM_UTF8) and not after.startswith(BOM_UTF8):
        found.append(f"the byte order mark is taken off {node.path}: containerd {version} stops at it")
    if arguments["state"] == "present" and settings.handlers and not settings.exclusive_handlers:
        found += [
            f"handler {name} is on the node, but not planned: "
            f"{in_role('exclusive_handlers: true', 'containerd_exclusive_handlers')} removes it"
            for name in _not_planned(view, settings, version)
        ]
    return found


def _goes_back(node: ContainerdNode, arguments: Mapping[str, Any]) -> bool:
    """Return whether the file is of a config version that the described release is too old for."""
    return is_too_new(node.content, arguments["version"])


def _not_planned(view: View, settings: Settings, version: str) -> list[str]:
    """Return the handlers for Windows containers that neither the settings nor containerd itself has."""
    facts = series(version)
    known = {*facts.default_handlers, *(handler.name for handler in settings.handlers)}
    shim = facts.planned["process"].runtime_type
    return [name for name, table in view.handlers.items() if table.get("runtime_type") == shim and name not in known]


def _result(node: ContainerdNode, plan: _Plan, arguments: Mapping[str, Any]) -> dict[str, Any]:
    view = inspect(plan.content, arguments["version"]) if plan.content is not None else None
    file = file_diff(node.path, shown_toml(node.content), shown_toml(plan.content))
    others = [*plan.service.diff, *plan.registries.diff]
    differs = plan.content != node.content or not others
    return {
        "changed": bool(plan.steps),
        "path": node.path,
        "version": node.version or arguments["version"],
        "handlers": list(view.handlers) if view else [],
        "default_handler": view.default_handler if view else None,
        "pause_image": view.pause_image if view else None,
        "steps": [step.label for step in plan.steps],
        "restarted": restarts(plan.steps),
        "backups": [],
        "node": node.system.data(),
        "diff": [*([file] if differs else []), *others] if plan.steps else [],
    }
