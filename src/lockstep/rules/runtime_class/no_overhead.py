"""A Hyper-V class whose utility VMs the scheduler does not count."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW514"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding where a Hyper-V handler's class has no overhead.

    Source: KEP-688 "Pod Overhead", and KEP-1001, which expects 100 to 200 MB for a utility VM.
    """
    if item.for_windows and "hypervisor" in item.handler and not item.mapping("overhead", "podFixed"):
        message = "every pod of the class has a utility VM, and no overhead says what that takes"
        fix = "add overhead.podFixed, such as {memory: 512Mi, cpu: 100m}"
        yield item.warning(RULE, ("handler",), message, fix=fix)
