"""hosts.toml and what belongs to it on a node: what is there, what is to be, and the steps between.

containerd reads these files at every pull, so that nothing is restarted for them. Source: containerd
core/remotes/docker/config/hosts.go, ConfigureHosts.
"""

from __future__ import annotations

import json
import ntpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lockstep.ansible.errors import TaskError, listed
from lockstep.ansible.node import Step, file_diff, read
from lockstep.ansible.text import shown_hosts
from lockstep.containerd.errors import SettingsError
from lockstep.containerd.hosts_toml import HOSTS_TOML, HostsFile, hosts_files
from lockstep.containerd.registries import DEFAULT, registries_from_data
from lockstep.node.operations import (
    Operation,
    Result,
    content_of,
    digest_file,
    ensure_folder,
    read_file,
    read_folder,
    remove_file,
    sha256,
    write_file,
)
from lockstep.node.session import Session
from lockstep.windows.access import ADMINISTRATORS, same

_MANIFEST = "lockstep.json"
_PEM = b"-----BEGIN CERTIFICATE-----"
_FOLDER, _LIST, _FILE = "registry folder", "registry manifest", "registry file "
_ACL = re.compile(r"D:[A-Z]*(?:\([^)]*\))*")


@dataclass(frozen=True, slots=True)
class ObservedRegistries:
    """What a read shows: who may use the folder (None: there is none), the manifest, and each desired file.

    `files` are contents by path below the folder, `digests` the SHA-256 of secret ones; None for one that is not there.
    """

    access: str | None
    manifest: bytes | None
    files: Mapping[str, bytes | None] = field(default_factory=dict, repr=False)
    digests: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Mapping[str, Result]) -> ObservedRegistries:
        """Return what the results of `registry_operations` show, by the names that these have."""
        files = {name.removeprefix(_FILE): result for name, result in found.items() if name.startswith(_FILE)}
        folder = found[_FOLDER]
        return cls(
            access=folder.get("access", "") if folder["exists"] else None,
            manifest=content_of(found[_LIST]),
            files={path: content_of(result) for path, result in files.items() if result["op"] == "file.read"},
            digests={path: result.get("sha256") for path, result in files.items() if result["op"] == "file.digest"},
        )

    def digest(self, path: str) -> str | None:
        """Return the SHA-256 of a file that is there."""
        return self.digests[path] if path in self.digests else sha256(self.files.get(path))


@dataclass(frozen=True, slots=True)
class RegistriesPlan:
    """What is to be done to the files of registries."""

    steps: tuple[Step, ...] = ()
    diff: tuple[dict[str, str], ...] = ()
    warnings: tuple[str, ...] = ()


def registry_operations(arguments: Mapping[str, Any]) -> dict[str, Operation]:
    """Return what is asked of a node for the registries that a task states, by name. A key's content is not asked."""
    root = arguments["registry_path"]
    return {
        _FOLDER: read_folder(root),
        _LIST: read_file(ntpath.join(root, _MANIFEST)),
        **{
            f"{_FILE}{file.path}": (digest_file if file.secret else read_file)(ntpath.join(root, file.path))
            for file in desired_files(arguments)
        },
    }


def desired_files(arguments: Mapping[str, Any]) -> list[HostsFile]:
    """Return the files that a task states. Raises TaskError where its registries cannot be like this."""
    stated: Sequence[Mapping[str, Any]] = arguments["registries"] or ()
    access = arguments["registry_access"]
    if access and not _ACL.fullmatch(access):
        raise TaskError(
            f"registry_access: '{access}' is no access list in SDDL: expected one such as D:P(A;OICI;FA;;;BA)"
        )
    if arguments["state"] == "absent":
        return []
    try:
        registries = registries_from_data(stated, arguments["version"])
    except SettingsError as error:
        raise TaskError(listed("the registries cannot be like this:", error.problems)) from error
    return [file for registry in registries for file in hosts_files(registry)]


def planned_registries(
    session: Session, observed: ObservedRegistries | None, arguments: Mapping[str, Any]
) -> RegistriesPlan:
    """Return what is to be done. What an earlier run wrote and no registry names any more is looked at first."""
    if observed is None:
        return RegistriesPlan()
    root, desired = arguments["registry_path"], desired_files(arguments)
    manifest = _manifest(observed.manifest)
    stale = {path: digest for path, digest in manifest.items() if path not in {file.path for file in desired}}
    prune = arguments["prune_registries"] or arguments["state"] == "absent"
    found = _digests(session, root, stale) if prune else {}
    removed = {path: digest for path, digest in found.items() if digest == stale[path]}
    edited = [path for path, digest in found.items() if digest is not None and digest != stale[path]]
    changed = [file for file in desired if observed.digest(file.path) != sha256(file.content)]
    kept = {} if prune else stale
    content = _manifest_text({**kept, **{file.path: str(sha256(file.content)) for file in desired}})
    steps = [*_write(root, changed, observed), *_remove(root, removed)]
    if content != observed.manifest and (desired or observed.manifest is not None):
        path = ntpath.join(root, _MANIFEST)
        steps.append(Step(f"write {path}", write_file(path, content, replaces=observed.manifest)))
    access = arguments["registry_access"]
    if access and (steps or desired) and not same(observed.access, access):
        who = "administrators only" if access == ADMINISTRATORS else access
        steps.insert(0, Step(f"let {who} use {root}", ensure_folder(root, access)))
    return RegistriesPlan(
        steps=tuple(steps),
        diff=tuple(_diff(root, changed, removed, observed)),
        warnings=tuple(_warnings(root, edited, removed, desired)),
    )


def _manifest(content: bytes | None) -> dict[str, str]:
    """Return what earlier runs wrote, SHA-256 by path; nothing of a manifest that somebody else made of it."""
    try:
        files = json.loads(content or b"{}").get("files", {})
        return {str(path): str(digest) for path, digest in files.items()}
    except (ValueError, AttributeError):
        return {}


def _manifest_text(files: Mapping[str, str]) -> bytes:
    about = "What lockstep wrote into this folder, with the SHA-256 of each file."
    return (json.dumps({"about": about, "files": dict(sorted(files.items()))}, indent=2) + "\n").encode("ascii")


def _digests(session: Session, root: str, files: Mapping[str, str]) -> dict[str, str | None]:
    """Return the SHA-256 that files have now; asked only where there is something to remove."""
    if not files:
        return {}
    results = read(session, [digest_file(ntpath.join(root, path)) for path in files])
    return {path: result.get("sha256") for path, result in zip(files, results, strict=True)}


def _write(root: str, files: Sequence[HostsFile], observed: ObservedRegistries) -> Iterator[Step]:
    for file in files:
        path = ntpath.join(root, file.path)
        write = write_file(path, file.content, replaces=None)
        yield Step(f"write {path}", {**write, "expect_sha256": observed.digest(file.path)})


def _remove(root: str, files: Mapping[str, str | None]) -> Iterator[Step]:
    for path, digest in files.items():
        full = ntpath.join(root, path)
        yield Step(f"remove {full}", {**remove_file(full, replaces=None), "expect_sha256": digest})


def _diff(
    root: str, changed: Sequence[HostsFile], removed: Mapping[str, str | None], observed: ObservedRegistries
) -> Iterator[dict[str, str]]:
    for file in changed:
        if file.secret:
            before, after = _secret(observed.digest(file.path)), _secret(sha256(file.content))
        else:
            before, after = (_shown(file.path, content) for content in (observed.files[file.path], file.content))
        yield file_diff(ntpath.join(root, file.path), before, after)
    for path, digest in removed.items():
        yield file_diff(ntpath.join(root, path), f"a file that lockstep wrote, SHA-256 {digest}\n", "")


def _shown(path: str, content: bytes | None) -> str:
    if path.endswith(HOSTS_TOML) or content is None:
        return shown_hosts(content)
    lines = len(content.splitlines())
    kinds = ", ".join(f"{count} certificate{'s' if count > 1 else ''}" for count in [content.count(_PEM)] if count)
    return f"{kinds or 'a file'}, SHA-256 {sha256(content)}, {lines} lines\n"


def _secret(digest: str | None) -> str:
    return "" if digest is None else f"a private key, not shown; SHA-256 {digest[:12]}…\n"


def _warnings(
    root: str, edited: Sequence[str], removed: Mapping[str, str | None], desired: Sequence[HostsFile]
) -> Iterator[str]:
    for path in edited:
        yield f"{ntpath.join(root, path)} is no longer described, but somebody changed it, so it was left alone"
    folders = {path.partition("\\")[0] for path in removed if path.endswith(HOSTS_TOML)}
    gone = sorted(folders - {file.path.partition("\\")[0] for file in desired})
    if gone and any(file.path.startswith(f"{DEFAULT}\\") for file in desired):
        # Source: containerd core/remotes/docker/config/hosts.go, HostDirFromRoot: the first folder found counts.
        names = ", ".join(ntpath.join(root, folder) for folder in gone)
        yield f"a folder without hosts.toml keeps its registry from {DEFAULT}'s hosts: remove {names}"
