"""A finding's words in one piece, for formats that have no place for hint and fix."""

from __future__ import annotations

from lockstep.finding import Finding


def said(finding: Finding) -> str:
    """Return message, hint and fix, a line each."""
    fix = f"fix: {finding.fix}" if finding.fix else None
    return "\n".join(text for text in (finding.message, finding.hint, fix) if text)
