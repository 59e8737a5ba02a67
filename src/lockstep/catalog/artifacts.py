"""What a node is made of: where releases are published, what their archives hold, and which services use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from lockstep.catalog.data import load
from lockstep.catalog.versions import Version, VersionError

Format = Literal["file", "zip", "tar.gz"]
SumsForm = Literal["digest", "line"]
Use = Literal["always", "named"]

FORMATS: tuple[Format, ...] = ("file", "zip", "tar.gz")


@dataclass(frozen=True, slots=True)
class Says:
    """A program that tells its release: `text` is in what `file` prints when it runs with `arguments`."""

    file: str
    arguments: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Sums:
    """Where a release publishes its SHA-256, and its form: the digest alone, or lines `digest  name`; None: either."""

    url: str
    form: SumsForm | None


@dataclass(frozen=True, slots=True)
class Artifact:
    """One release of one artifact, as its project publishes it.

    `files` has the path in the archive and the name on the node, `services` which services run such a file: always, or
    where their command line names it. `says` and `sums` are None where there is no such thing.
    """

    name: str
    version: str
    url: str
    format: Format
    folder: str
    files: tuple[tuple[str, str], ...]
    services: Mapping[str, Mapping[str, Use]]
    says: Says | None
    sums: Sums | None


@cache
def known_artifacts() -> tuple[str, ...]:
    """Return the names of the artifacts that the catalogue describes, in the order in which they are installed."""
    return tuple(load("artifacts")["artifacts"])


@cache
def known_services() -> tuple[str, ...]:
    """Return what services use artifacts, in the order in which they start."""
    return tuple(load("artifacts")["services"])


def artifact(name: str, version: str) -> Artifact:
    """Return a release of an artifact. Raises KeyError for a name that is not in `known_artifacts()`."""
    facts = load("artifacts")["artifacts"][name]
    version = version.removeprefix("v")
    template = facts["url_of_build"] if "url_of_build" in facts and "-" in version else facts["url"]
    url = template.format(version=version)
    says, sums = facts.get("says"), facts.get("sums")
    return Artifact(
        name=name,
        version=version,
        url=url,
        format=facts["format"],
        folder=facts["folder"],
        files=tuple((inside.format(version=version), outside) for inside, outside in facts["files"].items()),
        services=MappingProxyType(facts.get("services", {})),
        says=Says(says["file"], tuple(says["arguments"]), says["text"].format(version=version)) if says else None,
        sums=Sums(sums["url"].format(url=url), sums["form"]) if sums else None,
    )


def default_version(name: str, versions: Mapping[str, str]) -> str | None:
    """Return the version that goes with others (`{"kubelet": "1.36.1"}`), or None where nothing tells.

    Raises KeyError for a name that is not in `known_artifacts()`.
    """
    rule: Any = load("artifacts")["artifacts"][name].get("version")
    if not isinstance(rule, Mapping):
        return str(rule) if rule is not None else None
    if "follows" in rule:
        return versions.get(rule["follows"])
    try:
        return f"{Version.parse(versions[rule['minor']]).minor_text}.0"
    except (KeyError, VersionError):
        return None
