"""What was read of a node in one run, as a file on the controller.

It holds what files of the node hold, secrets among that, so only its owner may read it, and it lives no longer than
the run's folder does.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lockstep.node.operations import Result
from lockstep.node.remembered import Remembered


class FileCache:
    """The cache of one node in a file at `path`. What was kept for another `scope` counts as unknown.

    Raises OSError only where something cannot be forgotten.
    """

    def __init__(self, path: Path, scope: str) -> None:
        self._path = path
        self._scope = scope

    def remembered(self) -> Remembered:
        """Return what is known."""
        found = self._load()
        return Remembered(found["state"], found["results"])

    def keep(self, since: Remembered, results: Mapping[str, Result]) -> None:
        """Remember answers that were read after `since`, unless something may have changed the node meanwhile."""
        try:
            with self._alone():
                found = self._load()
                if found["state"] == since.state:
                    self._save(since.state, {**found["results"], **results})
        except OSError:
            # A full disk costs a request more, and nothing else.
            return

    def drop(self) -> None:
        """Forget everything, also what others are reading at this moment."""
        with self._alone():
            try:
                self._save(uuid.uuid4().hex, {})
            except OSError:
                self._path.unlink(missing_ok=True)

    def _load(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_text("ascii"))
            results = found["results"] if found["scope"] == self._scope else {}
            return {"state": found["state"], "results": results}
        except (OSError, ValueError, KeyError, TypeError):
            return {"state": "", "results": {}}

    def _save(self, state: str, results: Mapping[str, Result]) -> None:
        """Put the file there in one piece."""
        beside = self._path.with_suffix(".new")
        document = json.dumps({"scope": self._scope, "state": state, "results": dict(results)})
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(document)
        beside.replace(self._path)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
