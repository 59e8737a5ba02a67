"""A snapshotter that containerd does not have on Windows."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.containerd_files import snapshotters
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml
from lockstep.words import nearest

RULE = "LW431"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each unknown snapshotter. The facts are in the catalogue's containerd.yaml."""
    proxies = config.table(("proxy_plugins",))
    paths = [config.layout.snapshotter, *((*handler.path, "snapshotter") for handler in config.handlers)]
    for path in paths:
        found = config.get(path)
        if isinstance(found, str) and found and found not in snapshotters() | set(proxies):
            what = "the CRI plugin does not load" if path == config.layout.snapshotter else "none of its pods starts"
            message = f"containerd has no snapshotter '{found}' on Windows: {what}"
            yield config.error(RULE, path, message, fix=f"write '{nearest(found, snapshotters()) or 'windows'}'")
