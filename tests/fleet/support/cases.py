"""Cases: a description and, below `#### findings`, everything that is to be found in it.

A finding is a line `<severity> <rule> <line>:<column>`, then the words that it must say, each after ` | `.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from lockstep.finding import Finding

MARK = b"#### findings\n"


class Expected(NamedTuple):
    severity: str
    rule: str
    place: str
    words: tuple[str, ...]


def unpacked(case: Path, folder: Path) -> tuple[Path, list[Expected]]:
    """Return the case's description, written to a file in a folder, and what is to be found in it."""
    content, _, findings = case.read_bytes().partition(MARK)
    file = folder / "fleet.yaml"
    file.write_bytes(content)
    return file, [_expected(line) for line in findings.decode().splitlines()]


def differences(found: Iterable[Finding], expected: list[Expected]) -> list[str]:
    """Return what was found unexpectedly, what was not found, and what does not say its words."""
    every = list(found)
    there = Counter((str(f.severity), f.rule, _place(f)) for f in every)
    wanted = Counter(item[:3] for item in expected)
    problems = [f"found: {key}" for key in there - wanted] + [f"not found: {key}" for key in wanted - there]
    for item in expected:
        said = [_said(f) for f in every if (f.rule, _place(f)) == (item.rule, item.place)]
        if said and not any(all(word in text for word in item.words) for text in said):
            problems.append(f"{item.words} expected in {said}")
    return problems + [_said(f) for f in every if re.search(r"\n|object at 0x|Traceback", _said(f))]


def _expected(line: str) -> Expected:
    head, *words = line.split(" | ")
    severity, rule, place = head.split()
    return Expected(severity, rule, place, tuple(words))


def _place(finding: Finding) -> str:
    return f"{finding.place.line}:{finding.place.column}" if finding.place else "-"


def _said(finding: Finding) -> str:
    return " ".join(filter(None, (finding.message, finding.hint, finding.fix)))
