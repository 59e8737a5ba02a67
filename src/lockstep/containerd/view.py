"""What a config.toml says, for whoever only reads: a file's own text, or what `containerd config dump` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.catalog.containerd import Layout, Series, layouts, option_types, series
from lockstep.catalog.containerd_files import removed_keys
from lockstep.catalog.versions import Version
from lockstep.containerd.draft import Draft
from lockstep.containerd.settings import nearest, value_problem

_RUNHCS = "io.containerd.runhcs.v1"
_OLD_NAMES = 2
"""The last config version whose CRI plugin has the old name."""
# Source: containerd 1.7 services/server/config/config.go, mergeConfig ("Replace entire sections").
_IMPORTS_REPLACE = (
    "imports: an imported file that has a section for the CRI plugin replaces all that this file says of it"
)


@dataclass(frozen=True, slots=True)
class View:
    """The parts of a config.toml that matter here; None where the file does not say.

    `handlers` are the handlers' tables by name, as plain data. `warnings` name keys and options that containerd or
    the shim drops without a word.
    """

    config_version: int
    handlers: Mapping[str, Mapping[str, Any]]
    default_handler: str | None
    pause_image: str | None
    imports: tuple[str, ...]
    root: str | None
    state: str | None
    warnings: tuple[str, ...] = ()


def inspect(data: bytes, version: str | None = None) -> View:
    """Return what a config.toml says; with a containerd version also what that release would drop.

    A file without `version` is version 1, whose handlers are not looked for. Raises ContainerdConfigError where the
    file cannot be read.
    """
    draft = Draft(data)
    found = draft.data.get("version", 1)
    if type(found) is not int:
        raise draft.error(("version",), f"is {found!r} where a number is expected")
    where = layouts().get(found)
    handlers = (
        {} if where is None else {name: _table(table) for name, table in (draft.table(where.handlers) or {}).items()}
    )
    imports = _texts(draft.data.get("imports"))
    warnings = [] if version is None else list(_warnings(handlers, series(version)))
    if version is not None and where is not None:
        warnings += _removed(draft, where, Version.parse(version))
    if version is not None and imports and not series(version).merges_handlers:
        warnings.append(_IMPORTS_REPLACE)
    return View(
        config_version=found,
        handlers=handlers,
        default_handler=None if where is None else _text(draft, where.default_handler),
        pause_image=None if where is None else _text(draft, where.pause_image),
        imports=imports,
        root=_text(draft, ("root",)),
        state=_text(draft, ("state",)),
        warnings=tuple(warnings),
    )


def _text(draft: Draft, path: tuple[str, ...]) -> str | None:
    value = (draft.table(path[:-1]) or {}).get(path[-1])
    return value if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _table(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _removed(draft: Draft, where: Layout, version: Version) -> Iterator[str]:
    """Yield the keys that say something and that this release, to which a node was upgraded, no longer reads."""
    plugin = where.handlers[:2]
    for key in removed_keys():
        if version.release < key.since.release or (key.moved and where.config_version == _OLD_NAMES):
            continue
        table: Any = draft.data
        for name in (*plugin, *key.path[:-1]):
            table = _table(table).get(name)
        if _table(table).get(key.path[-1]):
            gone = f"containerd {key.since.minor_text} took it away and ignores it"
            yield f"{'.'.join(key.path)}: {gone}; use {key.instead}"


def _warnings(handlers: Mapping[str, Mapping[str, Any]], facts: Series) -> Iterator[str]:
    options = option_types(facts.version)
    for name, table in handlers.items():
        for key in table:
            if not any(facts.reads(key, known) for known in facts.handler_keys):
                hint = nearest(key, facts.handler_keys)
                yield f"handler {name}: containerd {facts.name} ignores the key '{key}'{hint}"
        if table.get("runtime_type") != _RUNHCS:
            continue
        for key, value in _table(table.get("options")).items():
            known = next((option for option in options if facts.reads(key, option)), None)
            if known is None:
                yield f"handler {name}: the shim ignores the option '{key}'{nearest(key, options)}"
            elif expected := value_problem(value, options[known]):
                yield f"handler {name}: the option {key} should be {expected}; its pods will not start"
            elif not options[known].effect:
                yield f"handler {name}: nothing reads the option {key}"
