"""Operations on a node's store of artifacts: what was downloaded and checked, apart from what runs."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from lockstep.node.operations.types import Operation


def entry_name(name: str, version: str, digest: str) -> str:
    """Return the name of a store's entry: `containerd-2.3.4-0123456789ab`; `digest` is the download's SHA-256."""
    return f"{name}-{version}-{digest[:12]}"


def read_store(root: str) -> Operation:
    """Return the operation that lists a store."""
    return {"op": "store.read", "root": root}


def add_to_store(
    root: str,
    name: str,
    version: str,
    *,
    digest: str,
    source: Mapping[str, Any],
    format: str,  # noqa: A002 - the contract's own name
    members: Sequence[tuple[str, str]] = (),
    timeout_seconds: int = 1800,
) -> Operation:
    """Return the operation that fetches, checks and unpacks an artifact.

    `source` is {url, headers, proxy}, {path} or {uploaded: True}; `format` is file, zip or tar.gz; `members` are pairs
    of a path in the archive and the file name that it gets; none takes every file.
    """
    return {
        "op": "store.add",
        "root": root,
        "name": name,
        "version": version,
        "sha256": digest,
        "source": dict(source),
        "format": format,
        "members": [{"from": inside, "to": outside} for inside, outside in members],
        "timeout_seconds": timeout_seconds,
    }


def upload_to_store(root: str, digest: str, offset: int, piece: bytes) -> Operation:
    """Return the operation that sends one piece of the artifact with this SHA-256."""
    content = base64.b64encode(piece).decode("ascii")
    return {"op": "store.upload", "root": root, "sha256": digest, "offset": offset, "content": content}


def prune_store(root: str, keep: Sequence[str]) -> Operation:
    """Return the operation that removes all entries but these."""
    return {"op": "store.prune", "root": root, "keep": list(keep)}


def install_file(path: str, root: str, entry: str, file: str, *, replaces: str | None) -> Operation:
    """Return the operation that puts a file of an entry in its place, if that still has the SHA-256 `replaces`."""
    return {"op": "file.install", "path": path, "root": root, "entry": entry, "file": file, "expect_sha256": replaces}
