"""A mirror of the releases that nodes are made of: below `/mirror`, at the same paths as at their projects.

Archives are made when they are asked for, of any version, with placeholders for programs, or with real ones where a
folder has them (`containerd-2.3.4/containerd.exe`); the same release always has the same bytes. Beside each is the file
with its SHA-256 that its project publishes, in the project's own form.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from lockstep.catalog.artifacts import Artifact, artifact, known_artifacts
from lockstep.sim.programs import placeholder

PREFIX = "/mirror"
_VERSION = r"[0-9][0-9A-Za-z.+-]*"
_DAY_ONE = (1980, 1, 1, 0, 0, 0)

# What the archives hold besides what a node needs, and how their members begin.
# Source: see artifacts.yaml, and the archives of containerd 2.2.0, cni-plugins 1.9.0, nssm 2.24.
_BESIDE: Mapping[str, tuple[str, ...]] = {
    "containerd": ("bin/containerd-stress.exe",),
    "cni-plugins": ("LICENSE", "README.md"),
    "nssm": ("nssm-{version}/win32/nssm.exe", "nssm-{version}/README.txt", "nssm-{version}/src/nssm.cpp"),
}
_BEGIN: Mapping[str, str] = {"cni-plugins": "./"}


@dataclass(frozen=True, slots=True)
class Published:
    """A file of a mirror: its bytes and what a web server calls them."""

    data: bytes
    content_type: str


def find(path: str, programs: Path | None = None) -> Published | None:
    """Return what is at a path below the mirror; None where no release of the catalogue is there.

    `programs` is a folder with real programs. The host may be part of the path: `/github.com/containerd/…` as well as
    `/containerd/…`.
    """
    for name, pattern, sums in _patterns():
        match = pattern.fullmatch(path)
        if match is None:
            continue
        release = artifact(name, match["version"])
        data = download(name, match["version"], programs)
        if not sums:
            return Published(data, "application/octet-stream")
        return Published(_sums(release, data), "text/plain")
    return None


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str], bool], ...]:
    """Return the name of an artifact, the pattern of a path, and whether that is of its sums."""
    found = []
    for name in known_artifacts():
        # Two forms of version, because a build's address may be another one than a release's.
        for sample in ("9.9.9", "9.9.9-9"):
            release = artifact(name, sample)
            for url, sums in ((release.url, False), (release.sums.url if release.sums else "", True)):
                if url:
                    found.append((name, _pattern(url, sample), sums))
    return tuple(dict.fromkeys(found))


def _pattern(url: str, sample: str) -> re.Pattern[str]:
    """Return a pattern of the paths that a URL is one of: any version in the places where the sample stands."""
    address = urlsplit(url)
    first, *rest = re.escape(address.path).split(re.escape(sample))
    version = f"(?P<version>{_VERSION})"
    text = first + "".join((version if index == 0 else "(?P=version)") + part for index, part in enumerate(rest))
    return re.compile(f"(?:/{re.escape(address.netloc)})?{text}")


@cache
def download(name: str, version: str, programs: Path | None = None) -> bytes:
    """Return the file that a release of an artifact is published as."""
    release = artifact(name, version)
    if release.format == "file":
        return _program(release, release.files[0][1], programs)
    begin = _BEGIN.get(name, "")
    members = {f"{begin}{inside}": _program(release, outside, programs) for inside, outside in release.files}
    for inside in _BESIDE.get(name, ()):
        path = inside.format(version=release.version)
        members[f"{begin}{path}"] = placeholder(path.rpartition("/")[2], release.version)
    return _zip(members) if release.format == "zip" else _tar(members)


def _program(release: Artifact, name: str, programs: Path | None) -> bytes:
    real = programs / f"{release.name}-{release.version}" / name if programs is not None else None
    return real.read_bytes() if real is not None and real.is_file() else placeholder(name, release.version)


def _sums(release: Artifact, data: bytes) -> bytes:
    digest = hashlib.sha256(data).hexdigest()
    name = urlsplit(release.url).path.rpartition("/")[2]
    line = release.sums is not None and release.sums.form == "line"
    return f"{digest}  {name}\n".encode() if line else digest.encode()


def _folders(members: Mapping[str, bytes]) -> list[str]:
    """Return the folders of members, each with a slash at its end, in the order in which an archive has them."""
    folders: dict[str, None] = {}
    for path in members:
        parts = path.split("/")[:-1]
        folders |= dict.fromkeys("/".join(parts[: index + 1]) + "/" for index in range(len(parts)))
    return list(folders)


def _tar(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for folder in _folders(members):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for path, data in members.items():
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(data), 0o755
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), mtime=0)


def _zip(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in [*((folder, b"") for folder in _folders(members)), *members.items()]:
            archive.writestr(zipfile.ZipInfo(path, _DAY_ONE), data)
    return buffer.getvalue()
