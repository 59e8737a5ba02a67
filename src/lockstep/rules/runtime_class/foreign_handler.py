"""A class for Windows nodes whose handler is not of Windows."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from lockstep.catalog.containerd import linux_handlers
from lockstep.finding import Finding
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW516"

_STANDARD = ("runhcs-wcow-process", "runhcs-wcow-hypervisor")
_SLIP = 0.92
"""How alike two names are that differ by a letter or two."""


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding where the handler is one of Linux's, or is nearly one of the standard names.

    Source: KEP-1001 (the standard names); KEP-2802: a handler that Linux nodes have too lets a pod past policies.
    """
    if not item.for_windows or not item.handler:
        return
    if item.handler in linux_handlers():
        message = f"the class selects Windows nodes, and '{item.handler}' is a handler of Linux nodes"
        yield item.error(RULE, ("handler",), message, fix=f"write handler: {_STANDARD[0]}")
    elif not item.handler.startswith(_STANDARD):
        for meant in difflib.get_close_matches(item.handler, _STANDARD, n=1, cutoff=_SLIP):
            message = f"'{item.handler}' is not a handler that containerd has by itself"
            yield item.warning(RULE, ("handler",), message, hint=f"did you mean '{meant}'?")
