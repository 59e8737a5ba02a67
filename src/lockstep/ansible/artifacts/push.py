"""An artifact sent from the controller to a node's store in pieces; an interrupted one goes on where it was cut off."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from lockstep.ansible.errors import TaskError
from lockstep.artifacts.observed import Observed
from lockstep.artifacts.plan import Planned
from lockstep.artifacts.wanted import Push, Wanted
from lockstep.node.operations import upload_to_store

PIECE = 4 * 1024 * 1024
"""Bytes of a piece. Each is a request of its own, so that what arrived is not lost with the connection."""
UPLOAD_TRANSACTION = "artifacts-upload"
"""Not that of the change itself: that one's journal holds what to go back to, should it be cut short."""


def check_files(uploads: Sequence[Wanted]) -> None:
    """Raise TaskError unless every file that is to be sent is there and has its SHA-256."""
    for wanted in uploads:
        if not isinstance(wanted.source, Push):
            continue
        path = Path(wanted.source.file)
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            facts = {"file": str(path), "do": "name a file of the controller: a full path, or one beside the playbook"}
            raise TaskError(f"{wanted} cannot be sent: the file cannot be read, {reason}", facts) from error
        if digest != wanted.digest:
            facts = {
                "file": str(path),
                "expected": wanted.digest,
                "found": digest,
                "do": "get the file anew, or correct sha256 if it is the one that you mean",
            }
            raise TaskError(f"{wanted} is not what its SHA-256 says, so it is not sent", facts)


def pieces(uploads: Sequence[Wanted], observed: Observed, root: str) -> Iterator[Planned]:
    """Yield the steps that send what a node lacks of these files."""
    for wanted in uploads:
        if isinstance(wanted.source, Push):
            yield from _pieces(wanted, Path(wanted.source.file), observed.uploads.get(wanted.digest, 0), root)


def _pieces(wanted: Wanted, path: Path, there: int, root: str) -> Iterator[Planned]:
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(there)
        while there < size:
            piece = file.read(PIECE)
            label = f"send {wanted} to the node, from {there / 1e6:.0f} of {size / 1e6:.0f} MB on"
            yield Planned(label, upload_to_store(root, wanted.digest, there, piece), wanted)
            there += len(piece)
