"""Versions of Kubernetes and containerd: parsed, ordered, grouped by minor.

Source: semver.org 2.0.0, items 2, 9, 10 and 11.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from lockstep.words import shortened

_NUMBER = r"(0|[1-9][0-9]*)"
_FORM = re.compile(
    rf"v?{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)

_Identifier = tuple[int, int, str]


class VersionError(ValueError):
    """Text that is no full version; the message says what was expected."""


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A full version, ordered as semver orders them: `2.4.0-beta.0` comes before `2.4.0`."""

    major: int
    minor: int
    patch: int
    _rank: tuple[int, tuple[_Identifier, ...]] = field(repr=False)
    prerelease: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> Version:
        """Return the version that `2.3.4`, `v2.3.4`, `2.4.0-beta.0` or `1.36.1+rke2r1` means, less build metadata.

        Raises VersionError for anything else, a version without its patch number included.
        """
        return _parse(text)

    @property
    def release(self) -> tuple[int, int, int]:
        """Major, minor and patch: what decides which of the catalogue's ranges a version falls in."""
        return (self.major, self.minor, self.patch)

    @property
    def minor_text(self) -> str:
        """The minor release, `2.3`."""
        return f"{self.major}.{self.minor}"

    def __str__(self) -> str:
        """Return the version without prefix and build metadata."""
        text = f"{self.major}.{self.minor}.{self.patch}"
        return f"{text}-{self.prerelease}" if self.prerelease else text


@lru_cache(maxsize=1024)
def _parse(text: str) -> Version:
    match = _FORM.fullmatch(text)
    if match is None:
        raise VersionError(f"'{shortened(text)}' is not a full version: expected major.minor.patch, such as 2.3.4")
    major, minor, patch, prerelease = match.groups()
    return Version(int(major), int(minor), int(patch), _rank_of(prerelease or ""), prerelease or "")


def _rank_of(prerelease: str) -> tuple[int, tuple[_Identifier, ...]]:
    """Return what orders pre-releases: before the release, numbers before words."""
    if not prerelease:
        return (1, ())
    return (0, tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in prerelease.split(".")))
