"""The flags of kubelet's service."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.kubelet.check import check_command_line
from lockstep.rules.given.kubelet import KubeletLine


def find(line: KubeletLine) -> Iterator[Finding]:
    """Yield the flags that kubelet stops at, and those that are missing."""
    if line.facts is None:
        return
    for problem in check_command_line(line.text, line.facts.name):
        yield problem.finding(place=line.value(problem.path))
