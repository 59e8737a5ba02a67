"""What may go wrong with downloads from the mirror: a list that POST /control sets."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from lockstep.sim.mirror import PREFIX, Published

NUMBER = (int, float)
# What happens, and what it takes besides the paths that it happens to.
DOES: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    # The connection ends after so many bytes of the file.
    "cut": {"bytes": (int,)},
    # A proxy or a login answers with a page of its own, and says that all is well.
    "page": {},
    # As many bytes, and other ones.
    "wrong": {},
    "missing": {},
    # The server refuses who does not log on.
    "login": {},
    # The server sends the client to another address, which has the file.
    "redirect": {},
    # The second half of the file comes so many seconds after the first.
    "slow": {"seconds": NUMBER},
}
_PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in to the network.</body></html>\n"
MOVED = "moved"
"""The query of an address to which a client was sent: it is not sent away again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the mirror answers to one request: an HTTP status, the file, and what happens on the way."""

    status: int
    file: Published
    location: str | None = None
    cut: int | None = None
    pause: float = 0.0


class MirrorFaults:
    """The faults that are armed on the mirror."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._list: list[dict[str, Any]] = []

    def set(self, faults: Any) -> None:
        """Arm exactly these faults; raises ValueError."""
        if not isinstance(faults, Sequence) or isinstance(faults, str):
            raise ValueError("mirror is a list of faults: exactly these are armed")  # noqa: TRY004 - wrong JSON
        checked = [dict(check(fault)) for fault in faults]
        with self._lock:
            self._list = checked

    def data(self) -> list[dict[str, Any]]:
        """Return the armed faults."""
        with self._lock:
            return [dict(fault) for fault in self._list]

    def answer(self, path: str, file: Published | None, *, logged_on: bool, moved: bool) -> Answer:
        """Return the answer to a request for a path, as the first fault that is about it makes it."""
        good = Answer(200, file) if file is not None else Answer(404, Published(b"not found\n", "text/plain"))
        fault = self._take(path)
        does = fault["does"] if fault is not None else ""
        if fault is None or file is None or (does == "login" and logged_on) or (does == "redirect" and moved):
            return good
        if does == "redirect":
            return Answer(302, Published(b"", "text/plain"), location=f"{PREFIX}{path}?{MOVED}")
        if does == "cut":
            return replace(good, cut=fault["bytes"])
        if does == "slow":
            return replace(good, pause=float(fault["seconds"]))
        changed = {
            "page": Answer(200, Published(_PAGE, "text/html")),
            "wrong": Answer(200, Published(bytes(byte ^ 1 for byte in file.data), file.content_type)),
            "missing": Answer(404, Published(b"not found\n", "text/plain")),
            "login": Answer(401, Published(b"", "text/plain")),
        }
        return changed[does]

    def _take(self, path: str) -> dict[str, Any] | None:
        """Return the first fault about a path; one that has happened as often as it should is gone."""
        with self._lock:
            fault = next((entry for entry in self._list if fnmatchcase(path, entry["path"])), None)
            if fault is not None and fault.get("times", 1) is not None:
                fault["times"] = fault.get("times", 1) - 1
                self._list = [entry for entry in self._list if entry.get("times", 1) != 0]
            return fault


def check(fault: Any) -> dict[str, Any]:
    """Return the fault, when it is one; raises ValueError with what is wrong."""
    if not isinstance(fault, dict) or fault.get("does") not in DOES or not isinstance(fault.get("path"), str):
        raise ValueError(
            f"a fault of the mirror is an object with path (a pattern) and does, one of {', '.join(DOES)}; got "
            f"{json.dumps(fault)}"
        )
    needs = DOES[fault["does"]]
    allowed = {"does": (str,), "path": (str,), "times": (int, type(None)), **needs}
    for key in needs:
        if key not in fault:
            raise ValueError(f"fault {fault['does']} of the mirror needs {key}")
    for key, value in fault.items():
        if key not in allowed:
            raise ValueError(f"fault {fault['does']} of the mirror has no {key}; it takes {', '.join(allowed)}")
        if not isinstance(value, allowed[key]) or isinstance(value, bool):
            raise ValueError(f"fault {fault['does']} of the mirror: {key} cannot be {json.dumps(value)}")  # noqa: TRY004
    return fault
