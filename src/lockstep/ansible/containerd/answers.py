"""What containerd and crictl answer when they are asked, as data."""

from __future__ import annotations

import json
from typing import Any

from lockstep.containerd import inspect
from lockstep.node.operations import Result


def loaded_handlers(info: Result) -> list[str] | None:
    """Return the handlers of the running containerd, by `crictl info`; None where it, or crictl, does not answer."""
    if not info.get("found") or info.get("exit_code") != 0:
        return None
    try:
        return sorted(json.loads(info["stdout"])["config"]["containerd"]["runtimes"])
    except (ValueError, KeyError, TypeError):
        return None


def dump_error(dump: Result) -> str | None:
    """Return why `containerd config dump`, which was found, printed no configuration; None where it did."""
    if dump.get("exit_code") == 0:
        return None
    return dump.get("stderr", "").strip() or "containerd config dump did not end in time"


def configured(content: bytes) -> dict[str, Any]:
    """Return what a configuration says of handlers and pause image. Raises ContainerdConfigError."""
    view = inspect(content)
    handlers = {name: dict(table) for name, table in view.handlers.items()}
    return {"default_handler": view.default_handler, "pause_image": view.pause_image, "handlers": handlers}
