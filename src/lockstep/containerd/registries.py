"""Registries and their mirrors as a task states them, checked for what containerd would pass over without a word.

A hosts.toml that containerd cannot decode it only logs, and pulls from the registry itself. So nothing is written that
some release would not read. Source: containerd core/remotes/docker/config/hosts.go (loadHostDir, parseHostConfig).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from lockstep.catalog.registry_hosts import capabilities, host_keys
from lockstep.catalog.versions import Version
from lockstep.containerd.errors import SettingsError
from lockstep.words import nearest

DEFAULT = "_default"
"""The registry whose hosts count for every other one. Source: containerd docs/hosts.md."""
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_NAME = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[0-9A-Fa-f:]+\])(?::[0-9]{{1,5}})?")
# Source: golang/go time.ParseDuration.
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|ms|s|m|h))+")
# Source: RFC 9110, 5.6.2, token.
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----")
_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----\s[^-]+-----END [A-Z ]*PRIVATE KEY-----")
_NODE_PATH = re.compile(r"[A-Za-z]:[\\/][^\r\n]*")
# Names under which Docker Hub is reached, and never the one that an image has.
_DOCKER_HUB = {"index.docker.io", "registry-1.docker.io", "hub.docker.com", "registry.hub.docker.com"}


@dataclass(frozen=True, slots=True)
class ClientPair:
    """A client certificate and its key: PEM text, or the full path of a file on the node. None: both in one."""

    certificate: str = field(repr=False)
    key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Host:
    """Where images are pulled from, and how. `url` is None for what counts for the registry's own server.

    `ca` is PEM text, or full paths of files on the node. `headers` may hold secrets.
    """

    url: str | None
    capabilities: tuple[str, ...] = ()
    ca: tuple[str, ...] = ()
    client: tuple[ClientPair, ...] = ()
    skip_verify: bool | None = None
    override_path: bool | None = None
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    dial_timeout: str | None = None


@dataclass(frozen=True, slots=True)
class Registry:
    """A registry by the name that images have in front, the server that it is, and hosts that are asked before it."""

    name: str
    server: Host
    hosts: tuple[Host, ...]

    @property
    def folder(self) -> str:
        """The folder of its hosts.toml: no colon, which a file's name cannot have on Windows.

        Source: containerd core/remotes/docker/config: hostDirectory, and hostPaths in config_windows.go.
        """
        host, colon, port = self.name.rpartition(":")
        return f"{host}_{port}_".replace(":", "") if colon and host else self.name


def is_node_path(text: str) -> bool:
    """Return whether a certificate or key is the path of a file on the node, rather than its content."""
    return _NODE_PATH.fullmatch(text) is not None


def registries_from_data(data: Sequence[Mapping[str, Any]], version: str) -> tuple[Registry, ...]:
    """Return registries from plain data, as an Ansible task gives them, checked for this containerd release.

    Keys: `name`, `server` (a URL), `hosts`; and of each host, or beside `server` for the server itself, `url` (of hosts
    only), `capabilities`, `ca`, `client` (each `certificate` and `key`), `skip_verify`, `override_path`, `headers` and
    `dial_timeout`. Raises SettingsError with all problems at once, none of which holds a secret.
    """
    checker = _Checker(version)
    found = tuple(checker.registry(f"registries[{index}]", item) for index, item in enumerate(data))
    folders = [registry.folder.lower() for registry in found]
    for index, folder in enumerate(folders):
        if folder in folders[:index]:
            checker.problems.append(f"registries[{index}].name: '{found[index].name}' is there twice")
    if checker.problems:
        raise SettingsError(tuple(checker.problems))
    return found


class _Checker:
    """Collects every problem of a task's registries."""

    def __init__(self, version: str) -> None:
        self.problems: list[str] = []
        self._version = Version.parse(version)

    def registry(self, where: str, data: Mapping[str, Any]) -> Registry:
        given = {key: value for key, value in data.items() if value is not None}
        name = str(given.get("name", ""))
        self.problems += [f"{where}.name: {problem}" for problem in _name_problems(name)]
        url = given.get("server")
        if url is not None:
            self.problems += [f"{where}.server: {problem}" for problem in _url_problems(str(url))]
        hosts = tuple(self.host(f"{where}.hosts[{index}]", item) for index, item in enumerate(given.get("hosts", ())))
        urls = [host.url for host in hosts]
        self.problems += [
            f"{where}.hosts[{index}].url: '{url}' is there twice"
            for index, url in enumerate(urls)
            if url in urls[:index]
        ]
        server = self.host(where, {**given, "url": url})
        if name == DEFAULT and url is None and not hosts:
            self.problems.append(f"{where}: {DEFAULT} needs hosts or a server")
        return Registry(name, server, hosts)

    def host(self, where: str, data: Mapping[str, Any]) -> Host:
        given = {key: value for key, value in data.items() if value is not None}
        url = given.get("url")
        if ".hosts[" in where:
            self.problems += [f"{where}.url: {problem}" for problem in _url_problems(str(url or ""))]
        able = tuple(str(item) for item in given.get("capabilities", ()))
        for item in able:
            self.problems += [
                f"{where}.capabilities: {text}" for text in self._unknown(item, capabilities(), "ability")
            ]
        ca = tuple(str(item) for item in given.get("ca", ()))
        self.problems += [
            f"{where}.ca[{index}]: expected a certificate as PEM text, or the full path of a file on the node"
            for index, text in enumerate(ca)
            if not is_node_path(text) and not _CERTIFICATE.search(text)
        ]
        timeout = given.get("dial_timeout")
        if timeout is not None:
            if not _DURATION.fullmatch(str(timeout)):
                self.problems.append(f"{where}.dial_timeout: '{timeout}' is no time: expected one such as 5s or 500ms")
            self.problems += [f"{where}.{text}" for text in self._unknown("dial_timeout", host_keys(), "key")]
        return Host(
            url=url,
            capabilities=able,
            ca=ca,
            client=tuple(
                self._pair(f"{where}.client[{index}]", item) for index, item in enumerate(given.get("client", ()))
            ),
            skip_verify=given.get("skip_verify"),
            override_path=given.get("override_path"),
            headers=self._headers(f"{where}.headers", given.get("headers", {})),
            dial_timeout=timeout,
        )

    def _unknown(self, name: str, known: Mapping[str, Version | None], what: str) -> Iterator[str]:
        """Yield what is wrong with a name that this release may not know."""
        if name not in known:
            near = nearest(name, known)
            suggestion = f"; did you mean '{near}'?" if near else f": expected {', '.join(known)}"
            yield f"containerd knows no {what} '{name}'{suggestion}"
            return
        since = known[name]
        if since is not None and self._version.release < since.release:
            yield f"{name}: containerd {self._version} does not know it, {since} is the first that does"

    def _pair(self, where: str, data: Mapping[str, Any]) -> ClientPair:
        certificate, key = str(data.get("certificate") or ""), data.get("key")
        if not is_node_path(certificate) and not _CERTIFICATE.search(certificate):
            self.problems.append(
                f"{where}.certificate: expected a certificate as PEM text, or the full path of a file on the node"
            )
        if key is None and not is_node_path(certificate) and not _KEY.search(certificate):
            self.problems.append(f"{where}.key: there is none, and none in the certificate's text")
        if key is not None and not is_node_path(str(key)) and not _KEY.search(str(key)):
            self.problems.append(
                f"{where}.key: expected a private key as PEM text, or the full path of a file on the node"
            )
        return ClientPair(certificate, None if key is None else str(key))

    def _headers(self, where: str, data: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for name, value in data.items():
            values = tuple(str(item) for item in value) if isinstance(value, list | tuple) else (str(value),)
            if not _HEADER.fullmatch(str(name)):
                self.problems.append(f"{where}: '{name}' is no name of a header")
            elif any("\r" in text or "\n" in text for text in values):
                self.problems.append(f"{where}.{name}: the value of a header is one line")
            found[str(name)] = values
        return found


def _name_problems(name: str) -> Iterator[str]:
    if name == DEFAULT:
        return
    if "://" in name or "/" in name:
        bare = urlsplit(name).netloc or name.partition("/")[0]
        yield f"'{name}': expected what images have in front, '{bare or 'docker.io'}', without a scheme or path"
    elif name.lower() in _DOCKER_HUB:
        yield f"'{name}': images of Docker Hub have docker.io in front, so that is the registry's name"
    elif not _NAME.fullmatch(name):
        yield f"'{name}' is no registry's name: expected one such as docker.io or registry.example:5000, or {DEFAULT}"


def _url_problems(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        yield f"'{url}' is no URL"
        return
    if parts.username is not None or parts.password is not None:
        # The text is not repeated: it holds a password.
        yield "a user or password in a URL is passed over: use headers, or an image pull secret"
    elif parts.scheme not in ("http", "https") or not host or url.split() != [url]:
        yield f"'{url}' is no URL of a registry: expected one such as https://mirror.example"
    elif parts.query or parts.fragment:
        yield f"'{url}': what follows ? or # is passed over"
