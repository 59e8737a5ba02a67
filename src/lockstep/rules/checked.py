"""What a whole check says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lockstep.finding import Finding, Severity
from lockstep.fleet.load import Loaded


@dataclass(frozen=True, slots=True)
class Checked:
    """Findings in order, the text of each file that was read, and what could not be checked for want of a fact.

    `suppressed` findings were silenced by comments or options; `unsure` are files that were not checked in full.
    `pools` and `classes` say how many of each are described, or have a manifest, `subjects` how many parts of files
    rules looked at.
    """

    findings: tuple[Finding, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    suppressed: int = 0
    unsure: frozenset[str] = frozenset()
    pools: int = 0
    classes: int = 0
    subjects: int = 0

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.severity is Severity.ERROR for finding in self.findings)

    @property
    def warnings(self) -> int:
        """How many findings are warnings."""
        return len(self.findings) - self.errors


def checked(loaded: Loaded) -> Checked:
    """Return the same of a description alone."""
    return Checked(loaded.findings, loaded.sources, pools=loaded.pools, classes=loaded.classes)
