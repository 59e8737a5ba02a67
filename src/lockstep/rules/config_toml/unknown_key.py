"""A key at the file's root or in the CRI plugin that containerd does not have, and that was meant to be another."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.containerd_files import root_keys, table_keys
from lockstep.containerd.draft import shown
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import CRI, CRI_IMAGES, CRI_RUNTIME, CRI_SHORT, ConfigToml
from lockstep.words import nearest

RULE = "LW408"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each key that is misspelt or stands in another plugin's section.

    Other unknown keys are left alone: a later release may have them. Source: containerd ignores them all, 1.x without
    a word, 2.x with `Ignoring unknown key in TOML`.
    """
    for path, known in {(): root_keys(), **_tables(config)}.items():
        for key in config.table(path):
            if any(found.reads(key, name) for found in config.candidates for name in known):
                continue
            meant = nearest(key, known)
            if meant is not None:
                message = f"containerd has no key '{key}' here, and ignores it"
                yield config.error(RULE, (*path, key), message, hint=f"did you mean '{meant}'?", at_key=True)
            elif place := _elsewhere(path, key, config):
                message = f"containerd reads '{key}' elsewhere, and ignores it here"
                yield config.error(RULE, (*path, key), message, hint=f"its place is [{place}]", at_key=True)


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
    ours = {CRI} if config.layout.handler_platforms is None else {CRI, CRI_RUNTIME, CRI_IMAGES}
    for table, keys in table_keys().items():
        if table[0] in ours and key in keys and ("plugins", *table) != path:
            new = table[0] != CRI or len(ours) == 1
            if new:
                return shown(("plugins", *table))
    return None
