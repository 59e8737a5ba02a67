"""What a runtimeclass_manifests task does: a folder of the controller is made to hold the fleet's manifests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lockstep.ansible.errors import TaskError
from lockstep.ansible.fleet import FleetError, plan_of
from lockstep.gitops.folder import FolderError, differences, write
from lockstep.runtimeclass.render import render


def render_into_folder(arguments: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:
    """Return the task's result: `manifests`, `written`, `removed`, `diff`. Nothing is written in check mode.

    Raises TaskError for a fleet that cannot be, and for a folder that cannot be read or written.
    """
    folder = Path(arguments["dest"])
    try:
        manifests = render(plan_of(arguments["fleet"]))
        changes = differences(folder, manifests)
        if not arguments["prune"]:
            changes = [change for change in changes if change.after is not None]
        if not check_mode:
            write(folder, changes)
    except (FleetError, FolderError) as error:
        raise TaskError(str(error)) from error
    return {
        "changed": bool(changes),
        "dest": str(folder),
        "manifests": list(manifests),
        "written": [change.name for change in changes if change.after is not None],
        "removed": [change.name for change in changes if change.after is None],
        "diff": [
            {
                "before": change.before or "",
                "after": change.after or "",
                "before_header": str(folder / change.name),
                "after_header": str(folder / change.name),
            }
            for change in changes
        ],
    }
