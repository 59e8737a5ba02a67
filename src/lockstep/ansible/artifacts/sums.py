"""Published checksums, fetched by the controller once in a run of Ansible, however many nodes there are."""

from __future__ import annotations

import fcntl
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ansible import constants
from lockstep.artifacts.web import WebError, fetch

_FAILED_FOR = 60
"""Seconds for which an address that gave nothing is not asked again: every node of a run would wait for it in turn."""


def fetch_once(url: str) -> bytes:
    """Return what is at an address, from what this run of Ansible fetched already if it did. Raises WebError.

    Ansible makes the folder for each of its runs and removes it when the run ends.
    Source: ansible-core lib/ansible/config/base.yml, DEFAULT_LOCAL_TMP.
    """
    folder = Path(constants.DEFAULT_LOCAL_TMP) / "lockstep"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = folder / f"sums-{hashlib.sha256(url.encode()).hexdigest()[:32]}"
    failed = kept.with_suffix(".failed")
    with _one_at_a_time(kept.with_suffix(".lock")):
        if kept.exists():
            return kept.read_bytes()
        if failed.exists() and time.time() - failed.stat().st_mtime < _FAILED_FOR:
            raise WebError(failed.read_text(encoding="utf-8"))
        try:
            content = fetch(url)
        except WebError as error:
            failed.write_text(str(error), encoding="utf-8")
            raise
        kept.write_bytes(content)
        return content


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Have the other workers of the run wait, so that they find what this one fetched."""
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
