"""Where the tasks of a run keep what they read of a node: in the folder that Ansible makes for each of its runs.

The folder is made by Ansible's first process, for its owner alone, has a name of its own in every run, is known to the
workers that are forked from there, and is removed when the run ends. So a run never finds what another one left.
Source: ansible-core lib/ansible/config/manager.py, type `tmppath`; base.yml, DEFAULT_LOCAL_TMP.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from ansible import constants
from lockstep.ansible.play import play_of
from lockstep.node.cache import FileCache

CACHE_VARIABLE = "lockstep_cache"
"""A host's variable: false has every task read the node anew."""
_ADDRESS = ("remote_addr", "host", "port", "path")
"""Options of connections that name a node, as far as a connection has them: winrm, psrp, ssh."""
_USER = "remote_user"


def run_cache(task: Any, connection: Any) -> FileCache:
    """Return the cache of the node that a task is connected to, whatever the inventory calls it.

    It knows what was read in the task's play, as the same user: a later play reads anew.
    """
    address = [str(connection.transport), *(_option(connection, name) for name in _ADDRESS)]
    name = hashlib.sha256(json.dumps(address).encode()).hexdigest()[:32]
    scope = f"{play_of(task)._uuid} {_option(connection, _USER)}"  # noqa: SLF001 - a play has no other name of its own
    return FileCache(Path(constants.DEFAULT_LOCAL_TMP) / "lockstep" / f"{name}.json", scope)


def claim_name(name: str, host: str) -> str | None:
    """Return the host that was the first of this run to be a node of this name, or None where that is `host`."""
    folder = Path(constants.DEFAULT_LOCAL_TMP) / "lockstep" / "names"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    place = folder / hashlib.sha256(name.encode()).hexdigest()[:32]
    beside = place.with_suffix(f".{os.getpid()}")
    beside.write_text(host, "utf-8")
    try:
        # A link is made in one piece, or not where there is one already.
        os.link(beside, place)
    except FileExistsError:
        first = place.read_text("utf-8")
        return None if first == host else first
    finally:
        beside.unlink()
    return None


def _option(connection: Any, name: str) -> str:
    try:
        return str(connection.get_option(name))
    except KeyError:
        return ""
