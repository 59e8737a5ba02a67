"""A containerd that is too old for the config.toml on the node: known before anything is stopped for it."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.ansible.containerd.node import DEFAULT_FILE
from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import System
from lockstep.artifacts.changes import Change
from lockstep.catalog.containerd import UnknownSeries
from lockstep.catalog.versions import VersionError
from lockstep.containerd import ContainerdConfigError, inspect, is_too_new, rewritten


def goes_back(system: System, file: bytes | None, changes: Sequence[Change], *, again: bool) -> str | None:
    """Return why the services have to wait for the role containerd, None where they have not to.

    `again` counts what is in place too: an interrupted change is completed. Raises TaskError where that role could not
    rewrite the file for the older release either.
    """
    change = next((each for each in changes if each.wanted.name == "containerd" and (each.differing or again)), None)
    if change is None or file is None:
        return None
    version = change.wanted.version
    try:
        if not is_too_new(file, version):
            return None
        found = inspect(file).config_version
    except (ContainerdConfigError, UnknownSeries, VersionError):
        return None
    try:
        rewritten(file, version)
    except ContainerdConfigError as error:
        facts = {"node": str(system), "file": DEFAULT_FILE, "it says": str(error)}
        raise TaskError(f"containerd {version} would not start on this node, so nothing was done", facts) from error
    return (
        f"containerd {version} does not read {DEFAULT_FILE}, which is of version {found}: its services stay stopped "
        "until the role containerd has rewritten it"
    )
