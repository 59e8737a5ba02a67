"""What a containerd_config task does: read the node, merge the plan into its config.toml, apply what differs."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Mapping
from typing import Any

from lockstep.ansible.containerd_node import (
    TRANSACTION,
    ContainerdNode,
    dump_arguments,
    info_arguments,
    read_node,
    version_arguments,
)
from lockstep.ansible.errors import TaskError, listed
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
    merge,
    remove,
    settings_from_data,
)
from lockstep.node.operations import Program, check_program, restart_service, write_file
from lockstep.node.session import Session

_SETTINGS = ("handlers", "default_handler", "pause_image", "exclusive_handlers")
# A person's handler may have another name, which releases print in different quotes.
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PARSE_SECONDS = 30
"""How long containerd may take to read a file: the first start of a program on Windows is scanned for viruses."""


def configure(session: Session, arguments: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the task's result; the node is changed unless in check mode or nothing is to be done.

    Raises TaskError where the node cannot be configured like this; it is then as it was.
    """
    settings = _settings(arguments)
    node = read_node(session, arguments)
    node.require(arguments["version"], arguments["host"])
    after = _desired(node, settings, arguments)
    steps = _steps(node, after, arguments)
    result = _result(node, after, steps)
    result["warnings"] = _warnings(node, after, settings, arguments)
    if steps and not check_mode:
        result["backups"] = list(apply(session, TRANSACTION, steps, node.system, "containerd").backups)
    return result


def _settings(arguments: Mapping[str, Any]) -> Settings:
    try:
        return settings_from_data({key: arguments[key] for key in _SETTINGS}, arguments["version"])
    except SettingsError as error:
        raise TaskError(listed("the settings cannot be like this:", error.problems)) from error
    except (UnknownSeries, VersionError) as error:
        raise TaskError(str(error)) from error


def _desired(node: ContainerdNode, settings: Settings, arguments: Mapping[str, Any]) -> bytes | None:
    change = merge if arguments["state"] == "present" else remove
    try:
        return change(node.content, settings, arguments["version"])
    except ContainerdConfigError as error:
        facts = {"node": str(node.system), "file": node.path, "it says": str(error)}
        raise TaskError("the configuration on the node cannot be changed, so it was left alone", facts) from error


def _steps(node: ContainerdNode, after: bytes | None, arguments: Mapping[str, Any]) -> list[Step]:
    """Return what has to be done: a run that was interrupted is completed even if the file is right already.

    What is taken away from a stopped service is no reason to start it.
    """
    changed = after != node.content
    absent = arguments["state"] == "absent" and not node.service.running
    if not changed and not node.pending and (node.service.running or absent):
        return []
    timeout = arguments["timeout"]
    restart = Step(f"restart service {node.service.name}", restart_service(node.service.name, timeout_seconds=timeout))
    if after is None:
        return [restart]
    handlers = list(inspect(after).handlers)
    write = Step(
        f"write {node.path}",
        write_file(node.path, after, replaces=node.content, backup=arguments["backup"] and changed),
    )
    # containerd reads the new file before the service that runs on the old one is stopped.
    parse = Step(
        "have containerd.exe read the new file",
        check_program(
            node.program,
            dump_arguments(node.path),
            must_contain=[f".runtimes.{name}]" for name in handlers if _BARE.fullmatch(name)],
            timeout_seconds=min(timeout, _PARSE_SECONDS),
        ),
    )
    if absent and not node.pending:
        return [write, parse]
    return [write, parse, restart, _healthy(node, after, handlers, timeout)]


def _healthy(node: ContainerdNode, after: bytes, handlers: list[str], timeout: int) -> Step:
    if node.crictl is None:
        ctr = Program(service=node.service.name, sibling="ctr.exe")
        check = check_program(ctr, version_arguments(after), must_contain=["Server:"], timeout_seconds=timeout)
        return Step("have containerd answer ctr", check)
    names = [f'"{name}":' for name in handlers]
    check = check_program(node.crictl, info_arguments(after), must_contain=names, timeout_seconds=timeout)
    return Step("have containerd list its handlers", check)


def _warnings(node: ContainerdNode, after: bytes | None, settings: Settings, arguments: Mapping[str, Any]) -> list[str]:
    """Return what is questionable in the file as it is to be, or was in the one that is there."""
    if after is None:
        return []
    view = inspect(after, node.version)
    found = list(view.warnings)
    if (node.content or b"").startswith(BOM_UTF8) and not after.startswith(BOM_UTF8):
        found.append(f"the byte order mark is taken off {node.path}: containerd {node.version} stops at it")
    if arguments["state"] == "present" and settings.handlers and not settings.exclusive_handlers:
        found += [
            f"handler {name} is on the node, but not planned: exclusive_handlers: true removes it "
            "(in the role, containerd_exclusive_handlers)"
            for name in _not_planned(view, settings, arguments["version"])
        ]
    return found


def _not_planned(view: View, settings: Settings, version: str) -> list[str]:
    """Return the handlers for Windows containers that neither the settings nor containerd itself has."""
    facts = series(version)
    known = {*facts.default_handlers, *(handler.name for handler in settings.handlers)}
    shim = facts.planned["process"].runtime_type
    return [name for name, table in view.handlers.items() if table.get("runtime_type") == shim and name not in known]


def _result(node: ContainerdNode, after: bytes | None, steps: list[Step]) -> dict[str, Any]:
    view = inspect(after, node.version) if after is not None else None
    return {
        "changed": bool(steps),
        "path": node.path,
        "version": node.version,
        "handlers": list(view.handlers) if view else [],
        "default_handler": view.default_handler if view else None,
        "pause_image": view.pause_image if view else None,
        "steps": [step.label for step in steps],
        "restarted": restarts(steps),
        "backups": [],
        "node": node.system.data(),
        "diff": [file_diff(node.path, shown_toml(node.content), shown_toml(after))] if steps else [],
    }
