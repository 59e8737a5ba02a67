"""A class whose handler no given config.toml has."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.nodes import handlers_of
from lockstep.rules.given.together import Together
from lockstep.words import nearest

RULE = "LW601"


def find(given: Together) -> Iterator[Finding]:
    """Yield each class whose pods fail with `no runtime for "x" is configured`, and say which handlers there are.

    Source: containerd internal/cri/server/sandbox_run.go.
    """
    if not given.configs:
        return
    handlers = handlers_of(given.configs)
    for item in given.windows_classes:
        if item.handler and item.handler not in handlers:
            files = ", ".join(config.file for config in given.configs)
            message = f"no config.toml here has the handler '{item.handler}' ({files})"
            meant = nearest(item.handler, handlers)
            hint = f"did you mean '{meant}'?" if meant else f"there are {', '.join(sorted(handlers))}"
            yield item.error(RULE, ("handler",), message, hint=hint, fix="add the handler, or name one that is there")
