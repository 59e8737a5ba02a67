"""Sections of the CRI plugin under the names of another config version."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.containerd_files import Effect, Sections, effect, streaming_keys
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import CRI, CRI_IMAGES, CRI_RUNTIME, CRI_SHORT, ConfigToml

RULE = "LW406"

_NAMES: dict[str, Sections] = {CRI_SHORT: "short", CRI: "old", CRI_RUNTIME: "new", CRI_IMAGES: "new"}
_RIGHT: dict[Sections, str] = {
    "short": f"'{CRI}' and version = 2",
    "old": f"'{CRI_RUNTIME}' and '{CRI_IMAGES}'",
    "new": f"'{CRI}', or write version = 3 where containerd is 2.x",
}


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each section that the release ignores or stops at. The facts are in the catalogue's containerd.yaml."""
    for name, table in config.table(("plugins",)).items():
        names = _NAMES.get(name)
        if names is None or not isinstance(table, dict):
            continue
        keys = set(table) - streaming_keys() if names == "old" else set(table)
        effects = {effect(names, config.version, found.version): found.name for found in reversed(config.candidates)}
        if keys and set(effects) != {"read"}:
            yield _finding(config, name, names, effects)


def _finding(config: ConfigToml, name: str, names: Sections, effects: dict[Effect, str]) -> Finding:
    path = ("plugins", name)
    version = f"version {config.version}" if "version" in config.data else "no version"
    fix = f"name it {_RIGHT[names]}" if names != "short" or config.version < 3 else f"name it {_RIGHT['old']}"  # noqa: PLR2004 - the config version that split the plugin
    if config.release is None:
        bad = next(effect for effect in ("stops", "ignored") if effect in effects)
        does = "does not start with" if bad == "stops" else "ignores"
        message = f"containerd {effects[bad]} {does} this section in a file of {version}"
        return config.warning(RULE, path, message, fix=fix, at_key=True)
    if "stops" in effects:
        message = f"containerd {config.release.version} does not start with a section '{name}' in a file of {version}"
    else:
        message = f"containerd {config.release.version} ignores this section in a file of {version}"
    return config.error(RULE, path, message, fix=fix, at_key=True)
