"""A handler's key that containerd does not have."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.catalog.containerd import known_series, series
from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml, Handler
from lockstep.words import nearest

RULE = "LW410"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each key that the release ignores: 1.x without a word, 2.x with `Ignoring unknown key`.

    What another release has, and says nothing (as `config default` writes it), is left alone.
    """
    for handler in config.handlers:
        for key, value in handler.table.items():
            if config.spelt(key, config.handler_keys) is None:
                yield from _finding(config, handler, key, value)


def _finding(config: ConfigToml, handler: Handler, key: str, value: object) -> Iterator[Finding]:
    path = (*handler.path, key)
    others = [name for name in known_series() if key in series(f"{name}.0").handler_keys]
    if others and config.release:
        # containerd 2.x reads the sandbox_mode of a version 2 file as sandboxer.
        if value and not (key == "sandbox_mode" and config.version == 2 and config.release.merges_handlers):  # noqa: PLR2004
            message = f"containerd {config.release.version} has no key '{key}' and ignores it: {_when(others)}"
            yield config.warning(RULE, path, message, fix="take it out", at_key=True)
        return
    meant = nearest(key, config.handler_keys)
    option = nearest(key.replace("_", ""), config.options)
    hint = f"did you mean '{meant}'?" if meant else None
    if not meant and option:
        hint = f"{option} is an option of the shim, which stands under [...{handler.name}.options]"
    message = f"a handler has no key '{key}', and containerd ignores it"
    yield config.error(RULE, path, message, hint=hint, fix=None if hint else "take it out", at_key=True)


def _when(series_names: list[str]) -> str:
    first, last = series_names[0], series_names[-1]
    return f"only {first} has it" if first == last else f"{first} to {last} have it"
