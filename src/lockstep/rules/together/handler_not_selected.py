"""A selector that matches nodes without the handler."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.together import Together

RULE = "LW603"


def find(given: Together) -> Iterator[Finding]:
    """Yield each class that selects a pool of the description whose nodes lack its handler.

    Source: containerd internal/cri/server/sandbox_run.go (`no runtime for "x" is configured`).
    """
    for item in given.windows_classes:
        selected = [node for node in given.nodes if node.selected_by(item)]
        lacking = [node for node in selected if node.handlers is not None and item.handler not in node.handlers]
        # What no config.toml has at all is said by another rule.
        names = [node.name for node in lacking if node.name.startswith("pool ")]
        if item.handler and names:
            message = f"the class selects {', '.join(names)}, whose nodes have no handler '{item.handler}'"
            fix = "select pools that have it, or give them a class of the description that uses it"
            yield item.error(RULE, ("scheduling", "nodeSelector"), message, fix=fix, at_key=True)
