"""GitHub workflow commands: each finding is an annotation of a pull request.

Source: GitHub Docs, "Workflow commands for GitHub Actions" (percent encoding as in actions/toolkit command.ts).
"""

from __future__ import annotations

from lockstep.finding import Finding
from lockstep.report.formats.said import said
from lockstep.rules.checked import Checked


def render(checked: Checked) -> str:
    """Return a line for each finding and note, nothing else."""
    lines = [_command(finding) for finding in checked.findings]
    lines += [f"::notice title=lockstep::{_data(note)}" for note in checked.notes]
    return "".join(f"{line}\n" for line in lines)


def _command(finding: Finding) -> str:
    properties = {}
    if place := finding.place:
        properties = {"file": place.file, "line": place.line, "col": place.column}
        properties["endColumn"] = place.column + max(place.length, 1)
    shown = {**properties, "title": f"lockstep {finding.rule}"}
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in shown.items())
    return f"::{finding.severity.value} {listed}::{_data(said(finding))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
