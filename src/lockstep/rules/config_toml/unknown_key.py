"""A key at the file's root or in the CRI plugin that containerd does not have."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.containerd_files import renamed_keys, root_keys, table_keys
from lockstep.containerd.draft import shown
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import CRI, CRI_IMAGES, CRI_RUNTIME, CRI_SHORT, ConfigToml
from lockstep.words import nearest

RULE = "LW408"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each unknown key: an error where another was meant, else a warning.

    Source: containerd ignores them all, 1.x without a word, 2.x with `Ignoring unknown key in TOML`.
    """
    for path, known in {(): root_keys(), **_tables(config)}.items():
        for key in config.table(path):
            if not any(found.reads(key, name) for found in config.candidates for name in known):
                yield _finding(config, (*path, key), key, known)


def _finding(config: ConfigToml, path: tuple[str, ...], key: str, known: frozenset[str]) -> Finding:
    if meant := nearest(key, known):
        message = f"containerd has no key '{key}' here, and ignores it"
        return config.error(RULE, path, message, hint=f"did you mean '{meant}'?", at_key=True)
    if place := _elsewhere(path[:-1], key, config):
        message = f"containerd reads '{key}' elsewhere, and ignores it here"
        return config.error(RULE, path, message, hint=f"its place is {place}", at_key=True)
    message = f"containerd has no key '{key}' here, and ignores it"
    return config.warning(RULE, path, message, fix="take it out", at_key=True)


def _tables(config: ConfigToml) -> dict[tuple[str, ...], frozenset[str]]:
    plugins = config.table(("plugins",))
    named = {CRI_SHORT: CRI} if CRI_SHORT in plugins else {}
    return {
        ("plugins", short, *path[1:]): keys
        for path, keys in table_keys().items()
        for short in (path[0], *(name for name, full in named.items() if full == path[0]))
        if short in plugins
    }


def _elsewhere(path: tuple[str, ...], key: str, config: ConfigToml) -> str | None:
    """Return the section of the same config version that has the key, or None."""
    if not path:
        return None
    if key in renamed_keys() and config.layout.handler_platforms is not None:
        return renamed_keys()[key]
    ours = {CRI} if config.layout.handler_platforms is None else {CRI, CRI_RUNTIME, CRI_IMAGES}
    for table, keys in table_keys().items():
        if table[0] in ours and key in keys and ("plugins", *table) != path:
            new = table[0] != CRI or len(ours) == 1
            if new:
                return f"[{shown(('plugins', *table))}]"
    return None
