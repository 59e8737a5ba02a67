"""Windows builds: what they are called, what a person may write for them, when their support ends."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Any, Literal

from lockstep.catalog.data import load

Channel = Literal["LTSC", "SAC", "AC", "client"]

_FULL_VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,6})(?:\.(\d{1,6}))?", re.ASCII)
_YEAR_LENGTH = 4
_NEAR_ENOUGH = 0.8


class UnknownBuild(ValueError):  # noqa: N818 - the name says it
    """Text that means no Windows build; `suggestion` is the word that was probably meant, or None."""

    def __init__(self, message: str, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.suggestion = suggestion


@dataclass(frozen=True, slots=True)
class Facts:
    """What the catalogue knows of one build; dates are None where the build never had them.

    `aliases` are the tags of Microsoft's base images, `names` other words that mean this build and no other. `guests`
    are the only builds whose containers the host runs, None where its Windows leaves that to containerd. `pause` has,
    by repository, the first tag with a manifest of the build and the last, None where there is no last; `pause_alone`
    is a pause image of this build and no other. The rest is as data/windows-builds.yaml says.
    """

    number: int
    product: str
    version: str
    channel: Channel
    source: str
    released: date | None = None
    mainstream_end: date | None = None
    extended_end: date | None = None
    aliases: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    base_images: tuple[str, ...] = ()
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    arm64: tuple[str, ...] = ()
    nanoserver_ended: date | None = None
    same_patch: bool = False
    february_2020: int | None = None
    guests: tuple[int, ...] | None = None
    hyperv: bool = True
    kubernetes: str | None = None
    pause: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    pause_alone: str | None = None
    on_client: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Every word that means this build."""
        return self.aliases + self.names

    @property
    def end(self) -> date | None:
        """The day after which Microsoft fixes nothing in it any more."""
        return self.extended_end or self.mainstream_end


@dataclass(frozen=True, slots=True, order=True)
class Build:
    """A Windows build: its number, and its revision (UBR) where that was given.

    Builds are equal and ordered by number alone, because nothing that decides what runs where reads the revision.
    Source: containerd/platforms platform_windows_compat.go; kubelet's label windows-build leaves it out too.
    """

    number: int
    revision: int | None = field(default=None, compare=False)

    @property
    def label(self) -> str:
        """The value of `node.kubernetes.io/windows-build`: `10.0.20348`."""
        return f"10.0.{self.number}"

    @property
    def full(self) -> str:
        """The build with its revision where that is known: `10.0.20348.2582`."""
        return self.label if self.revision is None else f"{self.label}.{self.revision}"

    @property
    def alias(self) -> str:
        """The word to show for it: `ltsc2022`, or the number where the build has no word."""
        facts = known().get(self.number)
        return facts.words[0] if facts and facts.words else str(self.number)

    @property
    def product(self) -> str:
        """The product's name, `Windows Server 2022`."""
        facts = known().get(self.number)
        return facts.product if facts else f"Windows build {self.number}"

    @property
    def facts(self) -> Facts | None:
        """What the catalogue knows of it, or None for a build that it does not list."""
        return known().get(self.number)

    def __str__(self) -> str:
        """Return how messages name it: `Windows Server 2022 (10.0.20348)`, `Windows build 29500`."""
        return f"{self.product} ({self.label})" if self.facts else self.product


@cache
def known() -> Mapping[int, Facts]:
    """Return every build of the catalogue by its number, oldest first."""
    return {entry["number"]: _facts(entry) for entry in load("windows-builds")["builds"]}


def resolve(text: str | int) -> Build:
    """Return the build that an alias, a build number or a full version means, in any letter case.

    A number that the catalogue does not list is a build of its own (a preview of a coming Windows, say), as long as
    Windows could have it.
    Raises UnknownBuild for everything else.
    """
    if isinstance(text, bool) or not isinstance(text, str | int):
        raise UnknownBuild(f"'{text}' is not a Windows build")
    return _resolve(str(text).strip())


@cache
def _resolve(text: str) -> Build:
    number = _words().get(text.lower())
    if number is not None:
        return Build(number)
    if match := _FULL_VERSION.fullmatch(text):
        major, minor, build, revision = match.groups()
        if (major, minor) == ("10", "0"):
            return Build(_checked(int(build), text), None if revision is None else int(revision))
        raise UnknownBuild(f"unknown Windows build '{text}': every Windows that runs containers is a 10.0")
    if text.isascii() and text.isdigit():
        return Build(_checked(int(text), text))
    raise UnknownBuild(f"unknown Windows build '{text}'", _suggestion(text))


def similar(build: Build) -> Build | None:
    """Return the listed build whose number differs by one slip of the pen from this one's, or None."""
    near = difflib.get_close_matches(str(build.number), map(str, known()), n=1, cutoff=_NEAR_ENOUGH)
    return Build(int(near[0])) if near else None


def _checked(number: int, text: str) -> int:
    numbers = load("windows-builds")["numbers"]
    if numbers["first"] <= number <= numbers["last"]:
        return number
    raise UnknownBuild(f"unknown Windows build '{text}'", _suggestion(text))


def _suggestion(text: str) -> str | None:
    """Return the word nearest to what was written: one that ends in the same year, else one that is spelt alike."""
    lowered = text.lower()
    words = _words()
    year = lowered[-_YEAR_LENGTH:]
    same_year = [word for word in words if len(year) == _YEAR_LENGTH and year.isdigit() and word.endswith(year)]
    spelt_alike = difflib.get_close_matches(lowered, [*words, *map(str, known())], n=1, cutoff=_NEAR_ENOUGH)
    for candidate in same_year + spelt_alike:
        return _spelling().get(candidate, candidate)
    return None


@cache
def _words() -> Mapping[str, int]:
    return {word.lower(): facts.number for facts in known().values() for word in facts.words}


@cache
def _spelling() -> Mapping[str, str]:
    return {word.lower(): word for facts in known().values() for word in facts.words}


def _facts(entry: Mapping[str, Any]) -> Facts:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    patches = fields.pop("patches", {})
    fields["same_patch"], fields["february_2020"] = patches.get("same", False), patches.get("february_2020")
    fields["tags"] = {repository: tuple(tags) for repository, tags in entry.get("tags", {}).items()}
    fields["pause"] = {
        repository: (str(tags["since"]), None if "last" not in tags else str(tags["last"]))
        for repository, tags in entry.get("pause", {}).items()
    }
    fields.pop("read", None)  # `data.known_until` has it
    return Facts(**fields)
