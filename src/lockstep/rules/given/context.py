"""What was said about the files: releases and host."""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.catalog.builds import Build


@dataclass(frozen=True, slots=True)
class Context:
    """The releases that the files are for, and the Windows build of the node; None where nothing was said."""

    containerd: str | None = None
    kubernetes: str | None = None
    host: Build | None = None
