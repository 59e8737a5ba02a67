"""JSON: every finding with everything that it has, for scripts."""

from __future__ import annotations

import json
from typing import Any

from lockstep.finding import Finding
from lockstep.rules.checked import Checked


def render(checked: Checked) -> str:
    """Return one JSON document: `findings` in order, `notes`, and how many `errors`, `warnings` and files there are."""
    document = {
        "findings": [_finding(finding) for finding in checked.findings],
        "notes": list(checked.notes),
        "errors": checked.errors,
        "warnings": checked.warnings,
        "suppressed": checked.suppressed,
        "files": sorted(checked.sources),
    }
    return json.dumps(document, indent=2) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    place = finding.place
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "file": place.file if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "length": place.length if place else None,
        # A description's keys may be of any kind that YAML has, dates included.
        "path": [part if isinstance(part, str | int) else str(part) for part in finding.path],
        "message": finding.message,
        "hint": finding.hint,
        "fix": finding.fix,
    }
