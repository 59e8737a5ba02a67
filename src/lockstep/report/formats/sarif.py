"""SARIF 2.1.0, which code hosts and editors show beside the lines.

Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", sections 3.13 to 3.58.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lockstep import __version__
from lockstep.finding import Finding
from lockstep.report.formats.said import said
from lockstep.report.pages import title
from lockstep.rules.checked import Checked

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def render(checked: Checked) -> str:
    """Return one SARIF log with one run."""
    rules = sorted({finding.rule for finding in checked.findings})
    seen: Counter[str] = Counter()
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "lockstep", "version": __version__, "rules": [_rule(rule) for rule in rules]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [{"level": "note", "message": {"text": note}} for note in checked.notes],
            }
        ],
        "results": [_result(finding, rules.index(finding.rule), seen) for finding in checked.findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: str) -> dict[str, Any]:
    about = {"id": rule}
    short = title(rule)
    return {**about, "shortDescription": {"text": short}} if short else about


def _result(finding: Finding, index: int, seen: Counter[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity.value,
        "message": {"text": said(finding)},
        "partialFingerprints": {"lockstep/v1": _fingerprint(finding, seen)},
    }
    if place := finding.place:
        region = {"startLine": place.line, "startColumn": place.column, "endColumn": place.column + place.length}
        physical = {"artifactLocation": {"uri": _uri(place.file)}, "region": region}
        result["locations"] = [{"physicalLocation": physical}]
    return result


def _fingerprint(finding: Finding, seen: Counter[str]) -> str:
    """Return what stays the same when lines move: the rule, the file and the path in the data."""
    parts = [finding.rule, finding.place.file if finding.place else "", *map(str, finding.path)]
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    seen[digest] += 1
    return f"{digest}:{seen[digest]}"


def _uri(file: str) -> str:
    """Return a relative reference for a relative path, a file URI for an absolute one."""
    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(file.replace(os.sep, "/"))
