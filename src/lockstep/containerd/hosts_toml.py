"""The files of a registry: hosts.toml, and beside it the certificates and keys that it names.

Names in hosts.toml are relative to it, and end in .pem: files that end in .crt or .cert would be used even where
hosts.toml is not (containerd core/remotes/docker/config/hosts.go, makeAbsPath and loadCertFiles).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.containerd.edit import literal, quoted
from lockstep.containerd.registries import Host, Registry, is_node_path

HOSTS_TOML = "hosts.toml"
_HEADING = "# Written by lockstep for containerd, which reads it at every pull.\n"


@dataclass(frozen=True, slots=True)
class HostsFile:
    """A file below the folder of registries: its path there, with backslashes, and its bytes; a key is `secret`."""

    path: str
    content: bytes
    secret: bool = False

    def __repr__(self) -> str:
        return f"HostsFile({self.path!r}, {len(self.content)} bytes)"


def hosts_files(registry: Registry) -> tuple[HostsFile, ...]:
    """Return a registry's files: those that its hosts.toml names, then that."""
    files: list[HostsFile] = []
    sections = [_section(registry, registry.server, "server", files)]
    for number, host in enumerate(registry.hosts, start=1):
        sections.append(_section(registry, host, f"host-{number}", files))
    text = _HEADING + "\n".join(sections)
    if not registry.hosts:
        # containerd 1.6 and most of 1.7 take no file without a table of hosts (getSortedHosts).
        text += "\n[host]\n"
    return (*files, HostsFile(f"{registry.folder}\\{HOSTS_TOML}", text.encode()))


def _section(registry: Registry, host: Host, stem: str, files: list[HostsFile]) -> str:
    """Return the lines of one host, or of the registry's own server; files that they name are added to `files`."""

    def file(name: str, text: str, *, secret: bool = False) -> str:
        if is_node_path(text):
            return text
        files.append(HostsFile(f"{registry.folder}\\{name}", _pem(text), secret))
        return name

    server = host is registry.server
    header: tuple[str, ...] = () if server else ("host", host.url or "")
    lines = [] if server else [f"[{_key(header)}]"]
    if server and host.url is not None:
        lines.append(f"server = {literal(host.url)}")
    lines += [f"{name} = {literal(value)}" for name, value in _values(host)]
    ca = [file(f"{stem}-ca-{number}.pem", text) for number, text in enumerate(host.ca, start=1)]
    if ca:
        lines.append(f"ca = {literal(ca)}")
    pairs = []
    for number, pair in enumerate(host.client, start=1):
        certificate = file(f"{stem}-client-{number}.pem", pair.certificate, secret=pair.key is None)
        # The same file twice where it has both: an empty name, which the documentation has there, is read as a folder.
        key = certificate if pair.key is None else file(f"{stem}-client-{number}-key.pem", pair.key, secret=True)
        pairs.append([certificate, key])
    if pairs:
        lines.append(f"client = {literal(pairs)}")
    if host.headers:
        lines.append(f"[{_key((*header, 'header'))}]")
        lines += [f"{quoted(name)} = {literal(_one_or_all(values))}" for name, values in host.headers.items()]
    return "".join(f"{line}\n" for line in lines)


def _values(host: Host) -> Iterator[tuple[str, Any]]:
    made: Mapping[str, Any] = {
        "capabilities": list(host.capabilities) or None,
        "skip_verify": host.skip_verify,
        "override_path": host.override_path,
        "dial_timeout": host.dial_timeout,
    }
    yield from ((name, value) for name, value in made.items() if value is not None)


def _one_or_all(values: tuple[str, ...]) -> str | list[str]:
    return values[0] if len(values) == 1 else list(values)


def _key(path: tuple[str, ...]) -> str:
    return ".".join(quoted(part) for part in path)


def _pem(text: str) -> bytes:
    return (text.strip().replace("\r\n", "\n") + "\n").encode()
