"""A handler whose name promises a guest's build."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.fleet.derivation.handlers import promised_guest
from lockstep.rules.config_toml.pause_image import boots
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW417"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each handler whose name ends in a build: an error where the host is known to be of another.

    Source: containerd/containerd#8348 and KEP-4216: images are picked by the host's platform for every handler.
    """
    host = config.context.host
    for handler in config.runhcs_handlers:
        promised = promised_guest(handler.name)
        if promised is None or promised == (boots(config) or host):
            continue
        hint = "a handler's name selects no build: the host, or the pause image of the node, decides"
        fix = f"name it {handler.name.rpartition('-')[0]} (lockstep explain guest)"
        message = f"handler {handler.name} promises {promised}, and nothing in it can give that"
        if host:
            message = f"handler {handler.name} promises {promised}, and the host is {host}"
            yield config.error(RULE, handler.path, message, hint=hint, fix=fix, at_key=True)
        else:
            yield config.warning(RULE, handler.path, message, hint=hint, fix=fix, at_key=True)
