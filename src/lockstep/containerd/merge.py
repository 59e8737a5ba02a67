"""The managed keys put into a config.toml, or taken out of it; everything else in the file stays byte for byte."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from lockstep.catalog.containerd import Layout, Series, layout, option_types, series
from lockstep.containerd.draft import Draft, same, shown
from lockstep.containerd.errors import ContainerdConfigError
from lockstep.containerd.going_back import is_too_new, rewritten
from lockstep.containerd.scan import Path
from lockstep.containerd.settings import Settings
from lockstep.fleet.plan import Handler

OLDEST_CONFIG_VERSION = 2

# What lockstep writes for releases that have it, beside the value that it writes: a release that a node went back to
# passes over it.
_OF_NEWER = {"sandboxer": "podsandbox", "ScrubLogs": True}
# Options that a plan also decides by leaving them out: one that a handler no longer has would go on sizing its
# utility VM.
_DECIDED_OPTIONS = ("VmMemorySizeInMb", "VmProcessorCount", "ScaleCpuLimitsToSandbox")


def merge(existing: bytes | None, settings: Settings, version: str) -> bytes:
    """Return the file with the settings in it, for this containerd release; the same bytes where it says them already.

    `existing` is None where there is no file: the new one has the config version that suits the release. Each handler
    is stated in full, because containerd 1.x takes a handler's table as it is and 2.x merges it with its own. Other
    keys of a handler stay. A byte order mark goes where it would stop containerd. A file of a config version that this
    release is too old for is rewritten in one that it reads. Raises ContainerdConfigError where
    the file cannot be read or safely edited, or containerd would not start with it.
    """
    facts = series(version)
    draft = _open(existing or b"", facts)
    where = layout(draft.data["version"])
    if settings.pause_image is not None:
        # Pinned images are a map, whose keys are exact; sandbox_image is a field, whose spelling may vary.
        spelling = facts if where.config_version == OLDEST_CONFIG_VERSION else None
        _set(draft, where.pause_image, settings.pause_image, spelling)
    if settings.default_handler is not None:
        _set(draft, where.default_handler, settings.default_handler, facts)
    for handler in settings.handlers:
        _state(draft, where, handler, facts)
    for name, snapshotter in settings.snapshotters.items():
        _set_snapshotter(draft, where, name, snapshotter, facts)
    for path, value in _server(where, settings):
        if value != "":
            _set(draft, path, value, facts)
        elif path[-1] in (draft.table(path[:-1]) or {}):
            draft.delete(path, prune=True)
    if settings.registry_path is not None:
        _check_registry(draft, where)
    if settings.exclusive_handlers:
        _remove_others(draft, where, {handler.name for handler in settings.handlers})
    _check_default(draft, where, facts)
    return draft.to_bytes(byte_order_mark=facts.reads_byte_order_mark)


def remove(existing: bytes | None, settings: Settings, version: str) -> bytes | None:
    """Return the file without what the settings name, None where there is no file.

    Their handlers go, and the default handler and pause image if these still are what the settings say. Keys that a
    person added to a handler stay where they add to one that containerd has by itself. Raises as `merge`.
    """
    if existing is None:
        return None
    facts = series(version)
    draft = _open(existing, facts)
    where = layout(draft.data["version"])
    managed = [(where.pause_image, settings.pause_image), (where.default_handler, settings.default_handler)]
    for path, value in [*managed, *_server(where, settings), *_snapshotters(where, settings)]:
        if value is not None and (draft.table(path[:-1]) or {}).get(path[-1]) == value:
            draft.delete(path, prune=True)
    for handler in settings.handlers:
        if handler.name in (draft.table(where.handlers) or {}):
            _withdraw(draft, (*where.handlers, handler.name), handler, facts)
    _check_default(draft, where, facts)
    return draft.to_bytes(byte_order_mark=facts.reads_byte_order_mark)


def _open(existing: bytes, facts: Series) -> Draft:
    """Return the draft of a file that this release reads and whose version says where things are."""
    draft = Draft(rewritten(existing, facts.version) if is_too_new(existing, facts.version) else existing)
    if not draft.data:
        draft.put(("version",), facts.config_version_for_new_file)
    if "version" not in draft.data:
        raise ContainerdConfigError(
            "the file has no `version`, so containerd reads it as version 1, which is not edited: "
            f"{_rewriting(facts)}; or put `version = 2` on its first line if its plugins are named "
            "io.containerd.grpc.v1.cri and the like"
        )
    found, highest = draft.data["version"], facts.max_config_version
    if type(found) is not int:
        raise draft.error(("version",), f"is {found!r} where a number from 2 to {highest} is expected")
    if found < OLDEST_CONFIG_VERSION:
        what = f"is {found}, and versions from {OLDEST_CONFIG_VERSION} can be edited"
        raise draft.error(("version",), what, _rewriting(facts))
    if found > highest:
        do = f"install a containerd that reads it, or write the file in version {highest}"
        raise draft.error(("version",), f"is {found}, and containerd {facts.version} reads {highest} at most", do)
    return draft


def _rewriting(facts: Series) -> str:
    """Return how a version 1 file is made a newer one, in Windows PowerShell, whose `>` would write UTF-16.

    Source: the programs themselves: 1.x has no `config migrate`, and its `config dump` writes version 2.
    """
    command = "migrate" if facts.max_config_version > OLDEST_CONFIG_VERSION else "dump"
    return (
        "in the folder of containerd.exe run `.\\containerd.exe config "
        f"{command} | Out-File -Encoding ascii migrated.toml`, read that file, and put it in the place of this one"
    )


def _state(draft: Draft, where: Layout, handler: Handler, facts: Series) -> None:
    """State one handler in full."""
    path = (*where.handlers, handler.name)
    options = dict(handler.options)
    wanted = _keys(handler)
    current = draft.table(path)
    if current is None:
        draft.put(path, {**wanted, "options": options} if options else wanted)
        return
    if where.config_version == OLDEST_CONFIG_VERSION and handler.sandboxer is not None:
        # containerd 2.x reads this key of a version 2 file as sandboxer, and warns of it where both are there.
        _respell(draft, (*path, "sandboxer"), facts, "sandbox_mode")
    for name, value in wanted.items():
        _set(draft, (*path, name), value, facts)
    _delete_newer(draft, path, facts.handler_keys)
    _respell(draft, (*path, "options"), facts)
    inside = (*path, "options")
    if options and draft.table(inside) is None:
        draft.put(inside, options)
        return
    for name, value in options.items():
        _set(draft, (*inside, name), value, facts)
    for name in draft.table(inside) or {}:
        if any(facts.reads(name, decided) and decided not in options for decided in _DECIDED_OPTIONS):
            draft.delete((*inside, name))
    if handler.runtime_type == facts.planned["process"].runtime_type:
        _delete_newer(draft, inside, option_types(facts.version))


def _delete_newer(draft: Draft, path: Path, known: Collection[str]) -> None:
    """Take out of a handler what lockstep wrote for a newer release and this one does not know."""
    for name, value in (draft.table(path) or {}).items():
        if name not in known and name in _OF_NEWER and value == _OF_NEWER[name]:
            draft.delete((*path, name))


def _server(where: Layout, settings: Settings) -> list[tuple[Path, Any]]:
    """Return the settings beside handlers and pause image, each with its place; only those that are made."""
    found: list[tuple[Path, Any]] = [
        (where.log_level, settings.log_level),
        (where.metrics_address, settings.metrics_address),
        (registry_path(where), settings.registry_path),
        (("imports",), None if settings.imports is None else list(settings.imports)),
    ]
    return [(path, value) for path, value in found if value is not None]


def registry_path(where: Layout) -> Path:
    """Return the key that names the folder with a hosts.toml a registry."""
    return (*where.registry, "config_path")


def _snapshotters(where: Layout, settings: Settings) -> list[tuple[Path, Any]]:
    """Return each handler's snapshotter with its places: for its containers, and for its images from 2.0 on.

    Source: containerd internal/cri/server/images/image_pull.go (snapshotterFromPodSandboxConfig); up to 2.2 what the
    handler's own table says is not looked for there.
    """
    found: list[tuple[Path, Any]] = []
    for name, snapshotter in settings.snapshotters.items():
        found.append(((*where.handlers, name, "snapshotter"), snapshotter))
        if where.handler_platforms is not None:
            found.append(((*where.handler_platforms, name, "snapshotter"), snapshotter))
    return found


def _set_snapshotter(draft: Draft, where: Layout, name: str, snapshotter: str, facts: Series) -> None:
    if where.handler_platforms is None and facts.merges_handlers:
        # Source: containerd 2.0 to 2.4 plugins/cri/images/plugin.go, migrateConfig: the key that it makes of a
        # handler's snapshotter in a version 2 file is `runtime_platform`, which nothing reads.
        raise draft.error(
            (*where.handlers, name),
            f"cannot be given the snapshotter {snapshotter} in a file of version 2: containerd {facts.version} would "
            "unpack its images with another one",
            _rewriting(facts),
        )
    for path, value in _snapshotters(where, Settings(snapshotters={name: snapshotter})):
        _set(draft, path, value, facts)


def _check_registry(draft: Draft, where: Layout) -> None:
    """Refuse what cannot stand beside registry.config_path: containerd's CRI plugin does not load with both.

    Source: containerd pkg/cri/config/config.go (1.x: mirrors, and tls in configs) and internal/cri/config/config.go
    (2.x: mirrors), ValidatePluginConfig and ValidateImageConfig.
    """
    table = draft.table(where.registry) or {}
    configs = table.get("configs")
    tls = isinstance(configs, Mapping) and any(isinstance(item, Mapping) and "tls" in item for item in configs.values())
    for key, there in (("mirrors", bool(table.get("mirrors"))), ("configs", tls)):
        if there:
            what = "mirrors" if key == "mirrors" else "tls of registries"
            raise draft.error(
                (*where.registry, key),
                f"names {what} beside the folder with a hosts.toml a registry, and containerd's CRI plugin does not "
                "start with both",
                "state them as registries of this task, take them out of the file, then run again",
            )


def _keys(handler: Handler) -> dict[str, Any]:
    """Return a handler's own keys, options apart, in the order in which they are written."""
    keys: dict[str, Any] = {
        "runtime_type": handler.runtime_type,
        "pod_annotations": list(handler.pod_annotations),
        "container_annotations": list(handler.container_annotations),
    }
    return keys if handler.sandboxer is None else {**keys, "sandboxer": handler.sandboxer}


def _set(draft: Draft, path: Path, value: Any, spelling: Series | None) -> None:
    """Set a value if it differs; other spellings that containerd reads as the same key are made this one."""
    if spelling is not None:
        _respell(draft, path, spelling)
    table = draft.table(path[:-1]) or {}
    if isinstance(table.get(path[-1]), Mapping):
        raise draft.error(path, "is a table where containerd expects a value")
    if path[-1] not in table or not same(table[path[-1]], value):
        draft.put(path, value)


def _respell(draft: Draft, path: Path, facts: Series, former: str | None = None) -> None:
    """Make this the only spelling of its key; the first other one is renamed, so that its place and comment stay."""
    table = draft.table(path[:-1]) or {}
    others = [name for name in table if name != path[-1] and (name == former or facts.reads(name, path[-1]))]
    if others and path[-1] not in table:
        draft.rename((*path[:-1], others.pop(0)), path[-1])
    for name in others:
        draft.delete((*path[:-1], name))


def _remove_others(draft: Draft, where: Layout, planned: set[str]) -> None:
    tables = [where.handlers] if where.handler_platforms is None else [where.handlers, where.handler_platforms]
    for table in tables:
        for name in draft.table(table) or {}:
            if name not in planned:
                draft.delete((*table, name), with_comments=True)


def _withdraw(draft: Draft, path: Path, handler: Handler, facts: Series) -> None:
    """Take one handler out, except for a person's own keys where these still add to a handler of containerd's own.

    containerd 1.x has no handler to add to as soon as the file names one, and what is left of another one would be a
    handler of another kind: without its SandboxIsolation it would run containers as processes.
    """
    if not facts.merges_handlers or handler.name not in facts.default_handlers:
        draft.delete(path, prune=True)
        return
    inside = (*path, "options")
    for name in handler.options:
        if name in (draft.table(inside) or {}):
            draft.delete((*inside, name), prune=True)
    for name in _keys(handler):
        if name in (draft.table(path) or {}):
            draft.delete((*path, name), prune=True)


def _check_default(draft: Draft, where: Layout, facts: Series) -> None:
    """Refuse a file whose default handler is nowhere: CRI does not start then.

    Source: containerd internal/cri/config/config.go, ValidateRuntimeConfig. A file with imports may have it in one of
    them.
    """
    named = (draft.table(where.default_handler[:-1]) or {}).get(where.default_handler[-1], facts.default_handler)
    written = draft.table(where.handlers) or {}
    own = facts.default_handlers if facts.merges_handlers or not written else {}
    if named in written or named in own or draft.data.get("imports"):
        return
    raise ContainerdConfigError(
        f"the default handler '{named}' ({shown(where.default_handler)}) would not exist, and containerd's CRI plugin "
        "does not start without it: add that handler, or name another as the default"
    )
