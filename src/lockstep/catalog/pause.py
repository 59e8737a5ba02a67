"""Pause images: which one a host needs, and which builds a given one can be.

CRI picks the pause image's manifest as any other image's: by the host's build. What it picks is what a Hyper-V pod's
utility VM boots. Sources are beside the facts, in data/windows-builds.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from lockstep.catalog.builds import Build, UnknownBuild, known, resolve
from lockstep.catalog.compatibility import matches
from lockstep.catalog.data import load

REPOSITORY = "registry.k8s.io/pause"

_VERSION_TAG = re.compile(r"v?[0-9]+(?:\.[0-9]+)*(?:-[0-9]+)?", re.ASCII)
_SINGLE_PLATFORM_TAG = re.compile(r".*-windows-([^-]+)(?:-amd64)?")


@dataclass(frozen=True, slots=True)
class _Row:
    """From which tag to which a repository's image has a manifest of a build; `last` is None where it still has."""

    build: Build
    since: str
    last: str | None


def image_for(host: Build, containerd: str, tag: str) -> str | None:
    """Return the multi-platform pause image for a host, or None where no tag has a manifest that its containerd takes.

    `tag` is Kubernetes' own choice (`3.10.2`); the image has it where it can, else the nearest that serves the host.
    """
    usable = [row for row in _rows(REPOSITORY) if matches(host, row.build, containerd)]
    if not usable:
        return None
    newest = max(usable, key=lambda row: row.build)
    nearest = max(tag, newest.since, key=_order)
    return f"{REPOSITORY}:{min(nearest, newest.last or nearest, key=_order)}"


def single_platform_image(guest: Build) -> str | None:
    """Return the pause image that is of the guest's build whatever the host, or None where none is known."""
    return guest.facts.pause_alone if guest.facts else None


def manifests(image: str) -> tuple[Build, ...] | None:
    """Return the builds that a pause image has manifests for, or None where nothing certain is known of it."""
    repository, tag = _split(image)
    if match := _SINGLE_PLATFORM_TAG.fullmatch(tag):
        try:
            return (resolve(match[1]),)
        except UnknownBuild:
            return None
    source = load("windows-builds")["pause_repositories"].get(repository)
    if not source or not source["complete"] or not _VERSION_TAG.fullmatch(tag):
        return None
    return tuple(_having(repository, tag))


def lacks(image: str, build: Build) -> bool:
    """Return whether the image is known to have no manifest of the build."""
    repository, tag = _split(image)
    rows = [row for row in _rows(repository) if row.build == build]
    if rows and _VERSION_TAG.fullmatch(tag):
        return build not in _having(repository, tag)
    builds = manifests(image)
    return builds is not None and build not in builds


def picked(image: str, host: Build, containerd: str) -> Build | None:
    """Return the build that containerd on the host gets from the image, or None where it is unknown or gets none.

    An image of one platform is taken as it is: the matcher only chooses among the manifests of an index.
    """
    builds = manifests(image) or ()
    if _SINGLE_PLATFORM_TAG.fullmatch(_split(image)[1]):
        return max(builds, default=None)
    return max((build for build in builds if matches(host, build, containerd)), default=None)


def by_digest(image: str) -> bool:
    """Return whether the image is named by digest, so that only its owner can say what it is."""
    return "@" in image


def _having(repository: str, tag: str) -> Iterator[Build]:
    for row in _rows(repository):
        if _order(row.since) <= _order(tag) <= _order(row.last or tag):
            yield row.build


def _rows(repository: str) -> list[_Row]:
    return _all_rows().get(repository, [])


@cache
def _all_rows() -> Mapping[str, list[_Row]]:
    rows: dict[str, list[_Row]] = {}
    for number, facts in known().items():
        for repository, (since, last) in facts.pause.items():
            rows.setdefault(repository, []).append(_Row(Build(number), since, last))
    return rows


def _split(image: str) -> tuple[str, str]:
    """Return an image's repository and tag, the tag empty where there is none or a digest decides."""
    name, digest, _ = image.partition("@")
    head, slash, last = name.rpartition("/")
    base, _, tag = last.partition(":")
    return f"{head}{slash}{base}", "" if digest else tag


def _order(tag: str) -> tuple[int, ...]:
    """Return what orders tags: `3.9` before `3.10`, `3.10.1` before `3.10.1-3`."""
    return tuple(map(int, re.findall(r"[0-9]+", tag)))
