"""The list of pinned SHA-256 that people commit: read, completed, and written so that a diff of it says something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml

from lockstep.artifacts.sums import DIGEST

VARIABLE = "artifacts_pinned"
"""The role's variable, so that the file can stand in group_vars as it is."""

_HEAD = """\
# SHA-256 of the releases that Windows nodes are made of, by name and version. `lockstep artifacts` wrote it, and keeps
# what is in it: a release that is pinned here is what it was when it was pinned, or it is refused.
"""


class PinsError(ValueError):
    """A file that is no list of pinned SHA-256; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Pin:
    """The SHA-256 of one release, and where it was read."""

    name: str
    version: str
    digest: str
    source: str


def read_pins(content: bytes) -> dict[tuple[str, str], Pin]:
    """Return the pins of a file by name and version, with the source that the comment above each tells.

    Raises PinsError.
    """
    text = content.decode("utf-8", errors="replace")
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise PinsError(f"it is no YAML: {error}") from error
    data = {} if data is None else data
    if not isinstance(data, Mapping) or set(data) - {VARIABLE}:
        raise PinsError(f"expected {VARIABLE} and nothing else in it, as this command writes it")
    sources = _sources(text)
    pins: dict[tuple[str, str], Pin] = {}
    for name, versions in (data.get(VARIABLE) or {}).items():
        if not isinstance(versions, Mapping):
            raise PinsError(f"{name}: expected a SHA-256 a version")
        for version, digest in versions.items():
            if not isinstance(version, str) or not DIGEST.fullmatch(str(digest)):
                raise PinsError(f"{name}: expected a version in quotes and its SHA-256, 64 hex digits; got {version}")
            pins[str(name), version] = Pin(str(name), version, str(digest), sources.get(str(digest), ""))
    return pins


def pins_text(pins: Sequence[Pin], order: Sequence[str]) -> str:
    """Return the file with these pins: artifacts in `order`, others after them, versions as text."""
    names = sorted(
        {pin.name for pin in pins}, key=lambda name: (order.index(name) if name in order else len(order), name)
    )
    lines = [f"{VARIABLE}:" if names else f"{VARIABLE}: {{}}"]
    for name in names:
        lines.append(f"  {name}:")
        for pin in sorted((pin for pin in pins if pin.name == name), key=lambda pin: pin.version):
            lines += [f"    # {pin.source}"] if pin.source else []
            lines.append(f'    "{pin.version}": "{pin.digest}"')
    return _HEAD + "\n".join(lines) + "\n"


def _sources(text: str) -> dict[str, str]:
    """Return what the comment above each pin says, by SHA-256."""
    found: dict[str, str] = {}
    above = ""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("#"):
            above = stripped.lstrip("# ")
            continue
        digest = stripped.rpartition(": ")[2].strip("\"'")
        if above and DIGEST.fullmatch(digest):
            found[digest] = above
        above = ""
    return found
