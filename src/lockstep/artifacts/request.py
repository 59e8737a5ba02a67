"""What a task asks for, with the catalogue's defaults filled in: everything that is wrong with it at once."""

from __future__ import annotations

import ntpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from lockstep.artifacts.sums import DIGEST, sums_problem
from lockstep.artifacts.wanted import Download, File, Push, Share, Source, Wanted
from lockstep.catalog.artifacts import (
    FORMATS,
    Artifact,
    Format,
    Sums,
    artifact,
    default_version,
    known_artifacts,
    known_services,
)
from lockstep.words import nearest, shortened

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,62}", re.ASCII)
_FOLDER = re.compile(r"[A-Za-z]:\\")
_FILE = re.compile(r'[^\\/:*?"<>|]+')
_SOURCES = ("url", "path", "src")


class RequestError(ValueError):
    """What is asked for cannot be; `problems` are all reasons, each with its place."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for all artifacts of a task.

    `mirror` replaces scheme and host of the catalogue's addresses. `pinned` has the SHA-256 by name and version.
    `published` says whether the release's own published sum will do where none is given. `proxy` is that of every
    download that names none.
    """

    mirror: str | None
    pinned: Mapping[str, Mapping[str, str]]
    published: bool
    proxy: str | None = None


def wanted(asked: Sequence[Mapping[str, Any]], defaults: Defaults) -> tuple[Wanted, ...]:
    """Return what a task asks for, in the catalogue's order. Raises RequestError."""
    problems = list(_mirror_problems(defaults.mirror))
    versions = {str(item["name"]): str(item["version"] or "").removeprefix("v") for item in asked if item["version"]}
    found: list[Wanted] = []
    for index, item in enumerate(asked):
        one = _One(f"artifacts[{index}] ({item['name']})", item, versions, defaults)
        own = list(one.problems())
        if own:
            problems += [f"{one.where}: {problem}" for problem in own]
        else:
            found.append(one.wanted())
    problems += _clashes(found)
    if problems:
        raise RequestError(problems)
    order = {name: index for index, name in enumerate(known_artifacts())}
    return tuple(sorted(found, key=lambda each: order.get(each.name, len(order))))


def at_mirror(url: str, mirror: str | None) -> str:
    """Return where a mirror has what a URL of the catalogue names: at the same path, below the mirror's own address."""
    return url if mirror is None else mirror.rstrip("/") + urlsplit(url).path


def _mirror_problems(mirror: str | None) -> Iterator[str]:
    if mirror is not None and not re.match(r"https?://[^/]", mirror):
        yield f"mirror: '{shortened(mirror)}' is no address: expected one such as https://mirror.example/k8s"


def _clashes(found: Sequence[Wanted]) -> Iterator[str]:
    names: set[str] = set()
    owners: dict[str, str] = {}
    for each in found:
        if each.name in names:
            yield f"{each.name} is asked for twice: a node has one release of an artifact"
            continue
        names.add(each.name)
        for file in each.files:
            other = owners.setdefault(ntpath.normcase(file.path), each.name)
            if other != each.name:
                yield f"{other} and {each.name} both put a file at {file.path}"


class _One:
    """One artifact of a task."""

    def __init__(self, where: str, item: Mapping[str, Any], versions: Mapping[str, str], defaults: Defaults) -> None:
        self.where, self.item, self.defaults = where, item, defaults
        self.name = str(item["name"])
        self.known = self.name in known_artifacts()
        given = str(item["version"] or "").removeprefix("v")
        self.version = given or (default_version(self.name, versions) if self.known else None) or ""
        self.facts: Artifact | None = artifact(self.name, self.version) if self.known and self.version else None
        self.given = [key for key in _SOURCES if item[key]]
        self.source = self._source()
        self.format = self._format()
        self.digest = self._digest()
        self.sums = self._sums()

    def problems(self) -> Iterator[str]:
        """Yield what is wrong with it."""
        if not _NAME.fullmatch(self.name):
            yield "expected a name of small letters, digits and hyphens"
            return
        unknown = [] if self.known else list(self._unknown_problems())
        yield from unknown
        if unknown:
            return
        if not _VERSION.fullmatch(self.version):
            got = f", got '{shortened(self.version)}'" if self.version else ""
            yield f"version: expected a release, such as 2.3.4{got}"
            return
        if len(self.given) > 1:
            yield f"{' and '.join(self.given)} exclude each other: it comes from one place"
        yield from self._source_problems()
        yield from self._file_problems()
        yield from self._digest_problems()

    def wanted(self) -> Wanted:
        """Return it, once there are no problems."""
        folder = self.item["into"] or (self.facts.folder if self.facts else "")
        services = dict(self.facts.services) if self.facts else {}
        own = self.item["services"]
        files = tuple(File(inside, name, ntpath.join(folder, name)) for inside, name in self._files())
        return Wanted(
            name=self.name,
            version=self.version,
            digest=self.digest,
            sums=self.sums,
            published_name=self._published_name(),
            source=self.source,
            format=self.format,
            files=files,
            services=services if own is None else {file.name: dict.fromkeys(own, "always") for file in files},
            says=self.facts.says if self.facts else None,
            pinned=bool(self.digest) and not self.item["sha256"],
        )

    def _unknown_problems(self) -> Iterator[str]:
        missing = [key for key in ("version", "into") if not self.item[key]]
        missing += [] if self.given else ["one of url, path, src"]
        missing += ["files"] if self.format != "file" and not self.item["files"] else []
        if missing:
            near = nearest(self.name, known_artifacts())
            meant = f"; did you mean '{near}'?" if near else ""
            *most, last = missing
            needs = f"{', '.join(most)} and {last}" if most else last
            yield f"the catalogue does not know it, so it needs {needs} too{meant}"

    def _source_problems(self) -> Iterator[str]:
        url = self.item["url"]
        if url and not re.match(r"https?://[^/]", url):
            yield f"url: '{shortened(url)}' is no address of a file: expected one that begins with https:// or http://"
        for key in ("headers", "proxy"):
            if self.item[key] and not isinstance(self.source, Download):
                yield f"{key}: it is not downloaded, so nothing would be sent"
        for name, value in (self.item["headers"] or {}).items():
            if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", str(name)) or re.search(r"[\r\n]", str(value)):
                yield f"headers: '{shortened(str(name))}' is no header field"

    def _file_problems(self) -> Iterator[str]:
        into = self.item["into"]
        if into and not _FOLDER.match(into):
            yield f"into: '{shortened(into)}' is no full Windows path: expected one such as C:\\k"
        if self.item["format"] and self.item["format"] not in FORMATS:
            yield f"format: expected {', '.join(FORMATS)}"
        for inside, name in self._files():
            if not inside or not _FILE.fullmatch(name):
                yield f"files: '{shortened(name)}' is no file name"
        for service in self.item["services"] or ():
            if service not in known_services():
                near = nearest(service, known_services())
                meant = f"; did you mean '{near}'?" if near else ""
                yield f"services: '{shortened(service)}' is none of {', '.join(known_services())}{meant}"

    def _digest_problems(self) -> Iterator[str]:
        given, url = self.item["sha256"], self.item["sha256_url"]
        if given and url:
            yield "sha256 and sha256_url exclude each other"
        elif not self.digest and self.sums is None:
            yield self._no_digest()
        elif self.digest and not DIGEST.fullmatch(self.digest):
            pin = f"pinned.{self.name}.'{self.version}' (in the role, artifacts_pinned)"
            where, text = ("sha256", str(given)) if given else (pin, self._pinned())
            yield f"{where}: '{shortened(text)}' is no SHA-256: expected 64 hex digits"
        elif not self.digest and self.sums and (problem := sums_problem(self.sums.url)):
            yield f"{'sha256_url' if url else 'sha256'}: {problem}; give sha256 itself instead"

    def _no_digest(self) -> str:
        get = f"lockstep artifacts --artifact {self.name}={self.version}"
        if self.facts is None or self.facts.sums is None:
            nobody = "its project publishes none" if self.facts else "the catalogue does not know its project"
            return f"{self.version} has no SHA-256, and {nobody}: sha256sum FILE tells it" + (
                f", and so does {get} --from FOLDER, as a line to commit" if self.facts else ""
            )
        return (
            f"{self.version} has no SHA-256: {get} gets it, as a line to commit; or set checksums to published (in the "
            "role, artifacts_checksums)"
        )

    def _digest(self) -> str:
        return str(self.item["sha256"] or self._pinned()).strip().lower().removeprefix("sha256:")

    def _pinned(self) -> str:
        """Return what the task's list of pins has for this release, as it was written there."""
        return "" if self.item["sha256_url"] else str(self.defaults.pinned.get(self.name, {}).get(self.version, ""))

    def _sums(self) -> Sums | None:
        if self.item["sha256_url"]:
            return Sums(self.item["sha256_url"], None)
        if not self.defaults.published or self.facts is None or self.facts.sums is None:
            return None
        return Sums(at_mirror(self.facts.sums.url, self.defaults.mirror), self.facts.sums.form)

    def _published_name(self) -> str:
        """Return the download's name as its project has it: a mirror or a share may call the file otherwise."""
        own = self.item["url"] or self.item["path"] or self.item["src"] or ""
        if self.item["sha256_url"] and own:
            return _last(own)
        return _last(self.facts.url if self.facts else own)

    def _source(self) -> Source:
        """Return where it comes from; nowhere, an empty address, where `problems` tells that nothing says so."""
        if self.item["path"]:
            return Share(self.item["path"])
        if self.item["src"]:
            return Push(self.item["src"])
        url = self.item["url"] or (at_mirror(self.facts.url, self.defaults.mirror) if self.facts else "")
        headers = {str(name): str(value) for name, value in (self.item["headers"] or {}).items()}
        return Download(url, headers, self.item["proxy"] or self.defaults.proxy)

    def _format(self) -> Format:
        if self.item["format"]:
            form: Format = self.item["format"]
            return form
        if self.facts:
            return self.facts.format
        end = str(self.item["url"] or self.item["path"] or self.item["src"] or "").lower()
        return "zip" if end.endswith(".zip") else "tar.gz" if end.endswith((".tar.gz", ".tgz")) else "file"

    def _files(self) -> list[tuple[str, str]]:
        own = self.item["files"]
        if own:
            return [(str(inside), str(name)) for inside, name in own.items()]
        if self.facts:
            return list(self.facts.files)
        name = _last(str(self.item["url"] or self.item["path"] or self.item["src"] or ""))
        return [(name, name)]


def _last(address: str) -> str:
    """Return the file's name at the end of a URL or a path."""
    text = urlsplit(address).path if re.match(r"https?://", address) else address
    return text.replace("\\", "/").rpartition("/")[2]
