"""Artifacts as a task gives them."""

from __future__ import annotations

from typing import Any

_KEYS = (
    "version",
    "sha256",
    "sha256_url",
    "url",
    "path",
    "src",
    "headers",
    "proxy",
    "into",
    "format",
    "files",
    "services",
)


def artifact(**given: Any) -> dict[str, Any]:
    """Return an artifact with these arguments, and null for those that are not given, as Ansible fills them up."""
    return {**dict.fromkeys(_KEYS), **given}
