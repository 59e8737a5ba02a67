"""A KubeletConfiguration file, with what the service's flags make of it."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.kubelet.check import check_configuration
from lockstep.rules.given.kubelet import KubeletFile


def find(file: KubeletFile) -> Iterator[Finding]:
    """Yield what kubelet stops at or ignores in the file."""
    if file.facts is None:
        return
    line = file.line.text if file.line else None
    for problem in check_configuration(file.content, file.facts.name, line):
        yield problem.finding(place=file.value(problem.path))
