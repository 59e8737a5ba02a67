"""What a containerd_config_info task does: one read, told as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lockstep.ansible.containerd_node import TRANSACTION, crictl_of, dump_arguments, info_arguments
from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import Service, System, read, release_of
from lockstep.ansible.text import shown_toml
from lockstep.containerd import ContainerdConfigError, inspect
from lockstep.node.operations import (
    Program,
    Result,
    content_of,
    read_file,
    read_service,
    read_system,
    read_transaction,
    run_program,
)
from lockstep.node.session import Session


def read_configuration(session: Session, arguments: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:  # noqa: ARG001 - reads in check mode as it does otherwise
    """Return the task's result. Raises TaskError where the node cannot be read."""
    path, name, timeout = arguments["path"], arguments["service"], arguments["timeout"]
    program = Program(service=name)
    system, file, service, version, transaction, dump, info = read(
        session,
        [
            read_system(),
            read_file(path),
            read_service(name),
            run_program(program, ["--version"], timeout_seconds=timeout),
            read_transaction(TRANSACTION),
            run_program(program, dump_arguments(path), timeout_seconds=timeout),
            run_program(crictl_of(arguments), info_arguments(None), timeout_seconds=timeout),
        ],
    )
    content = content_of(file)
    result = {
        "changed": False,
        "path": path,
        "exists": content is not None,
        "service": Service.of(name, service).data(),
        "pending": transaction["pending"],
        "node": System.of(system).data(),
    }
    if release := release_of(version):
        result["version"] = release
    return {**result, **_configured(content), **_effective(dump), **_loaded(info)}


def _configured(content: bytes | None) -> dict[str, Any]:
    if content is None:
        return {}
    try:
        return {"config_version": inspect(content).config_version, "configured": _told(content)}
    except ContainerdConfigError as error:
        return {"config_error": str(error)}


def _effective(dump: Result) -> dict[str, Any]:
    if not dump["found"]:
        return {}
    if dump.get("exit_code") != 0:
        return {"config_error": dump.get("stderr", "").strip() or "containerd config dump did not end in time"}
    text = dump["stdout"]
    try:
        return {"config_dump": shown_toml(text.encode()), "effective": _told(text.encode())}
    except ContainerdConfigError as error:
        raise TaskError("what `containerd config dump` prints cannot be read", {"it says": str(error)}) from error


def _told(content: bytes) -> dict[str, Any]:
    view = inspect(content)
    handlers = {name: dict(table) for name, table in view.handlers.items()}
    return {"default_handler": view.default_handler, "pause_image": view.pause_image, "handlers": handlers}


def _loaded(info: Result) -> dict[str, Any]:
    """Return the handlers of the running containerd; nothing where it, or crictl, is not there."""
    if not info["found"] or info.get("exit_code") != 0:
        return {}
    try:
        return {"loaded_handlers": sorted(json.loads(info["stdout"])["config"]["containerd"]["runtimes"])}
    except (ValueError, KeyError, TypeError):
        return {}
