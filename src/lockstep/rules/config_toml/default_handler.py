"""A default handler that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW420"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield a finding where the default handler is nowhere: the CRI plugin does not load then.

    On containerd 1.x any handler in the file replaces all that it has by itself. A file with imports may have it in one
    of them. Source: containerd internal/cri/config/config.go, ValidateRuntimeConfig.
    """
    if config.data.get("imports"):
        return
    written = set(config.table(config.layout.handlers))
    stated = config.get(config.layout.default_handler)
    missing = []
    for found in config.candidates:
        named = found.default_handler if stated is None else stated
        own = set(found.default_handlers) if found.merges_handlers or not written else set()
        if isinstance(named, str) and named not in written | own:
            missing.append((found, named))
    if len(missing) < len(config.candidates):
        return
    release, named = missing[0]
    path = config.layout.default_handler if stated is not None else config.layout.handlers
    where = "" if config.release is None else f" of containerd {release.version}"
    message = f"the default handler '{named}' does not exist: the CRI plugin{where} does not load"
    hint = None if release.merges_handlers else "on containerd 1.x the file's handlers replace containerd's own"
    fix = f"add the handler, or name one that is there: {', '.join(sorted(written))}" if written else "add the handler"
    yield config.error(RULE, path, message, hint=hint, fix=fix, at_key=stated is None)
