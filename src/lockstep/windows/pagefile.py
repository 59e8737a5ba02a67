r"""The pagefile: without one, Windows cannot commit more memory than it has, and kills nothing to get some back.

Sources: KEP-116 (a pagefile is needed); Windows Internals, "Page Files": Session Manager opens at each boot what
PagingFiles lists, `?:\pagefile.sys` is what Windows itself chooses size and drive of; ExistingPageFiles is what it has
opened.
"""

from __future__ import annotations

from lockstep.node.operations import Result, read_registry, write_registry
from lockstep.windows.aspect import Aspect, Change, Line, Observed
from lockstep.windows.registry import value_of

_KEY = r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management"
CONFIGURED = read_registry(_KEY, "PagingFiles")
OPENED = read_registry(_KEY, "ExistingPageFiles")
SYSTEM_MANAGED = r"?:\pagefile.sys"
RESTART = "the pagefile"


def compare(observed: Observed, *, wanted: bool) -> Aspect:
    """Return what is to be done: one that Windows manages where there is none, nothing about any other."""
    found = observed(CONFIGURED)
    files = _files(found)
    before = ", ".join(_shown(file) for file in files) or "none"
    if files or not wanted:
        return Aspect("pagefile", [Line("pagefile", before, before)])
    write = write_registry(_KEY, CONFIGURED["name"], "multi_string", [SYSTEM_MANAGED], replaces=value_of(found))
    change = Change("have Windows manage a pagefile", write, RESTART)
    return Aspect("pagefile", [Line("pagefile", before, _shown(SYSTEM_MANAGED))], [change])


def waiting(observed: Observed) -> bool:
    """Return whether one is configured that Windows has not opened yet: it does so when it boots."""
    opened = observed(OPENED)
    return bool(_files(observed(CONFIGURED))) and bool(opened["exists"]) and not _files(opened)


def _files(found: Result) -> list[str]:
    value = value_of(found)
    return [file for file in value if file.strip()] if isinstance(value, list) else []


def _shown(file: str) -> str:
    path, *sizes = file.split()
    if path.lower() == SYSTEM_MANAGED.lower():
        return "managed by Windows"
    return f"{path}, size managed by Windows" if sizes in (["0", "0"], []) else file
