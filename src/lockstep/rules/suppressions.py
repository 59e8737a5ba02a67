"""Comments that silence a finding, or weigh a rule differently, each with its reason.

    maxPods: 250  # lockstep: ignore LW320 because the node is that large
    # lockstep: ignore LW417 because the vendor's containerd selects by handler
    # lockstep: severity LW314=error because we had that outage

The first two speak of their own line, or of the next one that is no comment; the third of the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from lockstep.finding import Finding, Place, Severity, lines
from lockstep.knowledge.files import names
from lockstep.rules.checked import Checked

NOT_UNDERSTOOD = "LW701"
UNUSED = "LW702"
FIRM = "LW703"

MARK = "lockstep:"
_COMMENT = re.compile(r"(?:^|(?<=\s))#[ \t]*lockstep:(.*)$")
_IDS = r"[Ll][Ww]\d{3}(?:[ ,]+[Ll][Ww]\d{3})*"
_IGNORE = re.compile(rf"ignore[ \t]+({_IDS})(?:[ \t]+because[ \t]+(\S.*))?")
_WEIGH = re.compile(r"severity[ \t]+([Ll][Ww]\d{3})[ \t]*=[ \t]*(error|warning|ignore)(?:[ \t]+because[ \t]+(\S.*))?")
_FORM = "write '# lockstep: ignore LW417 because ...', or '# lockstep: severity LW417=warning because ...'"

Weights = Mapping[str, Severity | None]
"""What rules weigh, by id; None for one that is not to be told."""


@dataclass(frozen=True, slots=True)
class _Comment:
    """One comment: the rules that it names, the line that it speaks of (None: the file), what they weigh then."""

    place: Place
    rules: tuple[str, ...]
    line: int | None
    weight: Severity | None

    def speaks_of(self, finding: Finding) -> bool:
        """Return whether it is about a finding."""
        place = finding.place
        here = place is not None and place.file == self.place.file and self.line in (None, place.line)
        return here and finding.rule in self.rules


def applied(found: Checked, firm: Iterable[Finding], weights: Weights) -> Checked:
    """Return the same with rules weighed as a user says, and without what comments silence.

    `firm` findings keep a description from having a plan, whatever a comment says. A comment that silences nothing is a
    finding too, but not in files that were not checked in full.
    """
    comments: list[_Comment] = []
    findings: list[Finding] = []
    for file, text in found.sources.items():
        if MARK in text:
            read, wrong = _read(file, lines(text))
            comments += read
            findings += wrong
    if not comments and not findings and not weights:
        return found
    firmly, used, suppressed = set(firm), set[int](), 0
    for finding in found.findings:
        about = [index for index, comment in enumerate(comments) if comment.speaks_of(finding)]
        used.update(about)
        if finding in firmly:
            places: list[Place | None] = [comments[index].place for index in about]
            places = places or [None] * (finding.rule in weights)
            findings += [finding, *(_too_firm(finding, place) for place in places)]
            continue
        weight = comments[about[-1]].weight if about else weights.get(finding.rule, finding.severity)
        if weight is None:
            suppressed += 1
        else:
            findings.append(replace(finding, severity=weight))
    findings += [
        _unused(comment)
        for index, comment in enumerate(comments)
        if index not in used and comment.place.file not in found.unsure
    ]
    return replace(found, findings=tuple(dict.fromkeys(findings)), suppressed=suppressed)


def _read(file: str, text: list[str]) -> tuple[list[_Comment], list[Finding]]:
    comments: list[_Comment] = []
    findings: list[Finding] = []
    for number, line in enumerate(text, 1):
        match = _COMMENT.search(line) if MARK in line else None
        if match is None:
            continue
        place = Place(file, number, match.start() + 1, len(match[0].rstrip()))
        own = number if line[: match.start()].strip() else _next(text, number)
        comment = _parsed(match[1].strip(), place, own)
        if isinstance(comment, Finding):
            findings.append(comment)
        else:
            comments.append(comment)
    return comments, findings


def _next(text: list[str], number: int) -> int:
    """Return the next line after a comment's that is neither blank nor a comment."""
    after = (
        at for at, line in enumerate(text[number:], number + 1) if line.strip() and not line.lstrip().startswith("#")
    )
    return next(after, number)


def _parsed(said: str, place: Place, line: int) -> _Comment | Finding:
    ignore, weigh = _IGNORE.fullmatch(said), _WEIGH.fullmatch(said)
    match = ignore or weigh
    if match is None:
        message = "this comment to lockstep is not understood"
        return Finding(NOT_UNDERSTOOD, Severity.ERROR, (), message, None, _FORM, place)
    if not match[match.re.groups]:
        message = "this comment to lockstep gives no reason"
        return Finding(NOT_UNDERSTOOD, Severity.ERROR, (), message, None, "end it with 'because' and the reason", place)
    every = names("rules", ".md")
    rules = tuple(re.findall(r"LW\d{3}", match[1].upper()))
    if unknown := [rule for rule in rules if rule not in every]:
        message = f"there is no rule {' or '.join(unknown)}"
        return Finding(NOT_UNDERSTOOD, Severity.ERROR, (), message, None, "write the id that the finding shows", place)
    if ignore:
        return _Comment(place, rules, line, None)
    return _Comment(place, rules, None, None if match[2] == "ignore" else Severity(match[2]))


def _unused(comment: _Comment) -> Finding:
    rules = ", ".join(comment.rules)
    where = "here" if comment.line is None else f"in line {comment.line}"
    message = f"nothing {where} is found by {rules} any more"
    return Finding(UNUSED, Severity.WARNING, (), message, None, "take the comment out", comment.place)


def _too_firm(finding: Finding, place: Place | None) -> Finding:
    message = f"{finding.rule} keeps the description from having a plan, and cannot be weighed otherwise"
    return Finding(FIRM, Severity.ERROR, (), message, None, "put right what it says", place)
