"""The machine's PATH: what is missing is added at its end, everything else stays as it is."""

from __future__ import annotations

import ntpath
from collections.abc import Sequence

from lockstep.node.operations import read_registry, write_registry
from lockstep.windows.aspect import Aspect, Change, Line, Observed

READING = read_registry(r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\Environment", "Path")
TITLE = "machine PATH"


def compare(entries: Sequence[str], observed: Observed) -> Aspect:
    """Return what is to be added.

    A PATH that is not there, or no text, is left alone and warned of: what a machine without one needs is not known
    here.
    """
    found = observed(READING)
    if not found["exists"] or found["kind"] not in {"string", "expand_string"}:
        warning = f"{READING['key']} has no Path that is text, so nothing is added to it" if entries else ""
        return Aspect(TITLE, warnings=(warning,) if warning else ())
    before: str = found["value"]
    there = {_plain(entry) for entry in before.split(";")}
    missing = [entry for entry in entries if _plain(entry) not in there]
    after = ";".join([*([before.rstrip(";")] if before.strip(";") else []), *missing]) if missing else before
    lines = [Line(str(number), entry, entry) for number, entry in enumerate(_entries(before), 1)]
    lines += [Line(str(number), None, entry) for number, entry in enumerate(missing, len(lines) + 1)]
    if not missing:
        return Aspect(TITLE, lines)
    # The kind stays: a PATH with %SystemRoot% in it that became plain text would find no program of Windows any more.
    write = write_registry(READING["key"], READING["name"], found["kind"], after, replaces=before)
    return Aspect(TITLE, lines, [Change(f"add {', '.join(missing)} to the machine's PATH", write)])


def _entries(path: str) -> list[str]:
    return [entry for entry in path.split(";") if entry]


def _plain(entry: str) -> str:
    return ntpath.normcase(entry.strip().strip('"').rstrip("\\"))
