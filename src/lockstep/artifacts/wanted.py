"""What a node is to have: one release of each artifact, where it comes from and where its files go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from lockstep.catalog.artifacts import Format, Says, Sums, Use
from lockstep.node.operations import entry_name
from lockstep.words import MASK


@dataclass(frozen=True, slots=True)
class Download:
    """A URL that the node fetches itself; header fields and proxy may hold secrets."""

    url: str
    headers: Mapping[str, str]
    proxy: str | None

    def to_data(self) -> dict[str, Any]:
        """Return the source as `store.add` has it."""
        proxy = {"proxy": self.proxy} if self.proxy else {}
        headers = {"headers": dict(self.headers)} if self.headers else {}
        return {"url": self.url, **headers, **proxy}

    def __str__(self) -> str:
        return shown_url(self.url)


@dataclass(frozen=True, slots=True)
class Share:
    """A file that the node can read, on a share for example."""

    path: str

    def to_data(self) -> dict[str, Any]:
        """Return the source as `store.add` has it."""
        return {"path": self.path}

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True, slots=True)
class Push:
    """A file of the controller, sent to the node in pieces."""

    file: str

    def to_data(self) -> dict[str, Any]:
        """Return the source as `store.add` has it."""
        return {"uploaded": True}

    def __str__(self) -> str:
        return f"the controller's {self.file}"


Source = Download | Share | Push


@dataclass(frozen=True, slots=True)
class File:
    """A file of an artifact: its path in the archive, its name in the store and its full path on the node."""

    inside: str
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """One release of an artifact that a node is to have.

    `digest` is the SHA-256 of the download, empty where it is yet to be taken from `sums`, which may list it as
    `published_name`; `pinned` says that it is of the task's list of pins. `services` says which services run a file (by
    name): always, or where their command line names it.
    """

    name: str
    version: str
    digest: str
    sums: Sums | None
    published_name: str
    source: Source
    format: Format
    files: tuple[File, ...]
    services: Mapping[str, Mapping[str, Use]]
    says: Says | None
    pinned: bool = False

    @property
    def entry(self) -> str:
        """The name of its entry in a store."""
        return entry_name(self.name, self.version, self.digest)

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def shown_url(url: str) -> str:
    """Return a URL as people may see it: account and query, which may hold a password or a token, are masked."""
    parts = urlsplit(url)
    account, at, host = parts.netloc.rpartition("@")
    netloc = f"{MASK}@{host}" if at and account else host
    return urlunsplit((parts.scheme, netloc, parts.path, MASK if parts.query else "", ""))


def secrets_of(source: Source) -> tuple[str, ...]:
    """Return the texts of a source that nobody may see."""
    if not isinstance(source, Download):
        return ()
    found = list(source.headers.values())
    for address in (source.url, source.proxy or ""):
        parts = urlsplit(address)
        found += [parts.query, parts.netloc.rpartition("@")[0], parts.password or ""]
    return tuple(text for text in found if text)
