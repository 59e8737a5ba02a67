"""Faults of one node: a list in `faults.json`, which a test, POST /control or a person with an editor writes.

Each fault is an object with `kind`, its own keys (see KINDS) and, where it should happen more or less often than
its kind does by itself, `times` (null: for ever). A fault that has happened as often as it should is removed from
the file.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lockstep.node.contract import contract
from lockstep.sim.documents import write_json

NUMBER = (int, float)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a kind of fault takes: key -> types; `times` is how often it happens by itself, None for ever."""

    required: Mapping[str, tuple[type, ...]]
    optional: Mapping[str, tuple[type, ...]] = field(default_factory=dict)
    times: int | None = 1


KINDS: Mapping[str, Kind] = {
    # Every answer comes this much later.
    "latency": Kind({"seconds": NUMBER}, times=None),
    # The connection is cut at the n-th WinRM request from now: before it is carried out, or after, without the reply.
    "drop": Kind({"request": (int,)}, {"when": (str,)}),
    # The n-th operation of this name from now fails with a code of the contract. During apply the step is undone
    # as any other.
    "operation": Kind({"op": (str,), "code": (str,)}, {"nth": (int,), "message": (str,)}),
    # At its next start a service `exits` at once, `dies` after so many seconds, `hangs` in start_pending, or runs and
    # is `deaf` when it is told to stop.
    "service": Kind({"name": (str,), "does": (str,)}, {"after_seconds": NUMBER, "exit_code": (int,)}),
    # Power is lost before micro-step n of the next apply; the node is back after so many seconds (null: when told).
    "power": Kind({"step": (int,)}, {"off_seconds": (*NUMBER, type(None))}),
    # At its next restart the node is away for so many seconds instead of its usual ones (null: until it is told), and
    # goes down so many times `again` shortly after it was back.
    "restart": Kind({"off_seconds": (*NUMBER, type(None))}, {"again": (int,)}),
    # A file or folder that another process holds open, or that Windows refuses.
    "in_use": Kind({"path": (str,)}, times=None),
    "denied": Kind({"path": (str,)}, times=None),
    # A program that a process runs: it can be renamed, but neither changed nor removed.
    "running": Kind({"path": (str,)}, times=None),
    # There is no more room than this, in one folder or everywhere.
    "disk_full": Kind({}, {"path": (str,), "free_bytes": (int,)}, times=None),
}
_CHOICES = {("drop", "when"): ("before", "after"), ("service", "does"): ("exits", "dies", "hangs", "deaf")}


def check(fault: Any) -> dict[str, Any]:
    """Return the fault, when it is one; raises ValueError with what is wrong."""
    if not isinstance(fault, dict) or fault.get("kind") not in KINDS:
        raise ValueError(f"a fault is an object with kind, one of {', '.join(KINDS)}; got {json.dumps(fault)}")
    kind = KINDS[fault["kind"]]
    allowed: dict[str, tuple[type, ...]] = {
        "kind": (str,),
        "times": (int, type(None)),
        **kind.required,
        **kind.optional,
    }
    for key in kind.required:
        if key not in fault:
            raise ValueError(f"fault {fault['kind']} needs {key}")
    for key, value in fault.items():
        if key not in allowed:
            raise ValueError(f"fault {fault['kind']} has no {key}; it takes {', '.join(allowed)}")
        if not isinstance(value, allowed[key]) or (isinstance(value, bool) and bool not in allowed[key]):
            raise ValueError(f"fault {fault['kind']}: {key} cannot be {json.dumps(value)}")
        choices = _choices(fault, key)
        if choices and value not in choices:
            raise ValueError(f"fault {fault['kind']}: {key} is one of {', '.join(choices)}; got {value}")
    return fault


def _choices(fault: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the words that a key may have, or nothing where any will do."""
    operations = contract()["operations"]
    if (fault["kind"], key) == ("operation", "op"):
        return tuple(operations)
    if (fault["kind"], key) == ("operation", "code"):
        return tuple(operations[fault["op"]]["errors"]) or ("none: this operation has no errors",)
    return _CHOICES.get((fault["kind"], key), ())


def _faults(loaded: Any) -> list[dict[str, Any]]:
    if not isinstance(loaded, list):
        raise ValueError("a list of faults is expected")  # noqa: TRY004 - wrong JSON, as any other here
    return [check(fault) for fault in loaded]


def _plain(path: str) -> str:
    return path.lower().replace("/", "\\").rstrip("\\")


def _is_within(path: str, place: str) -> bool:
    """Whether a path is this place or lies in it; everything lies in the place without a name."""
    return not place or _plain(path) == _plain(place) or _plain(path).startswith(f"{_plain(place)}\\")


class Faults:
    """The faults that are armed on one node."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._seen: tuple[int, int] | None = None
        self._list: list[dict[str, Any]] = []

    def set(self, faults: Sequence[Any]) -> None:
        """Arm exactly these faults; raises ValueError."""
        checked = [dict(check(fault)) for fault in faults]
        with self._lock:
            self._list = checked
            self._save()

    def add(self, **fault: Any) -> None:
        """Arm one more fault: `add(kind="power", step=3)`; raises ValueError."""
        checked = check(fault)
        with self._lock:
            self._load()
            self._list.append(checked)
            self._save()

    def clear(self) -> None:
        """Arm no faults."""
        self.set([])

    def data(self) -> list[dict[str, Any]]:
        """Return the armed faults."""
        with self._lock:
            return [dict(fault) for fault in self._load()]

    def latency(self) -> float:
        """Seconds that every answer is late."""
        with self._lock:
            return float(sum(fault["seconds"] for fault in self._load() if fault["kind"] == "latency"))

    def drop(self) -> str | None:
        """Count a request: `before` or `after` where the connection is to be cut now."""
        fault = self._count("drop", "request", lambda _: True)
        return None if fault is None else str(fault.get("when", "before"))

    def operation(self, name: str) -> dict[str, Any] | None:
        """Count an operation: the fault that makes it fail now."""
        return self._count("operation", "nth", lambda fault: fault["op"] == name)

    def service(self, name: str) -> dict[str, Any] | None:
        """Return the fault that a service has at this start."""
        return self._count("service", "", lambda fault: str(fault["name"]).lower() == name.lower())

    def power(self) -> dict[str, Any] | None:
        """Return the fault that cuts the power during the apply that begins now."""
        return self._count("power", "", lambda _: True)

    def restart(self) -> dict[str, Any] | None:
        """Return the fault that the restart which begins now has."""
        return self._count("restart", "", lambda _: True)

    def holds(self, kind: str, path: str) -> bool:
        """Whether a path is held or refused (in_use, denied, running), by itself or with its folder."""
        return any(_is_within(path, place) for place in self._places(kind))

    def holds_within(self, kind: str, folder: str) -> bool:
        """Whether something in a folder is held."""
        return any(_is_within(place, folder) for place in self._places(kind))

    def follow(self, kind: str, source: str, target: str) -> None:
        """Tell that a held file has another name now."""
        with self._lock:
            for fault in self._load():
                if fault["kind"] == kind and _plain(str(fault["path"])) == _plain(source):
                    fault["path"] = target
                    self._save()

    def free_bytes(self, path: str) -> int | None:
        """Return how much room there is for a file; None where no fault says it."""
        with self._lock:
            faults = [fault for fault in self._load() if fault["kind"] == "disk_full"]
        return min(
            (int(fault.get("free_bytes", 0)) for fault in faults if _is_within(path, str(fault.get("path", "")))),
            default=None,
        )

    def _places(self, kind: str) -> list[str]:
        with self._lock:
            return [str(fault["path"]) for fault in self._load() if fault["kind"] == kind]

    def _count(self, kind: str, counter: str, applies: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
        """Return the first fault of a kind that applies and whose countdown ends now; it is used up by that."""
        with self._lock:
            for fault in self._load():
                if fault["kind"] != kind or not applies(fault):
                    continue
                if counter and fault.get(counter, 1) > 1:
                    fault[counter] -= 1
                    self._save()
                    continue
                times = fault.get("times", KINDS[kind].times)
                if times is not None:
                    fault["times"] = times - 1
                    self._list = [entry for entry in self._list if entry.get("times", 1) != 0]
                    self._save()
                return fault
        return None

    def _load(self) -> list[dict[str, Any]]:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._seen, self._list = None, []
            return self._list
        seen = (status.st_mtime_ns, status.st_size)
        if seen != self._seen:
            self._list, self._seen = self._read(), seen
        return self._list

    def _read(self) -> list[dict[str, Any]]:
        """Return the faults of the file; none of a file that is wrong, which is said once: the node goes on."""
        try:
            return _faults(json.loads(self._path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            _log.warning("%s: %s; no fault happens until it is corrected", self._path, error)
            return []

    def _save(self) -> None:
        if not self._list:
            self._path.unlink(missing_ok=True)
            self._seen = None
            return
        write_json(self._path, self._list)
        status = self._path.stat()
        self._seen = (status.st_mtime_ns, status.st_size)
