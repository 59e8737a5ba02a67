"""A key that the release no longer has."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.containerd_files import removed_keys
from lockstep.catalog.versions import Version
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import CRI, CRI_RUNTIME, CRI_SHORT, ConfigToml

RULE = "LW409"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding at each removed key that says something. The facts are in the catalogue's containerd.yaml."""
    if config.release is None:
        return
    running = Version.parse(config.release.version)
    for key in removed_keys():
        if running.release < key.since.release:
            continue
        for plugin in (CRI_RUNTIME,) if key.moved else (CRI_SHORT, CRI, CRI_RUNTIME):
            path = ("plugins", plugin, *key.path)
            if config.get(path):
                message = f"containerd {key.since.minor_text} took '{'.'.join(key.path)}' away, and ignores it"
                yield config.warning(RULE, path, message, fix=f"use {key.instead}", at_key=True)
