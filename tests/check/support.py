"""Cases of files: what is given to a check, and everything that is to be found in it, each finding at its place.

A case is one file, whose findings stand below `#### findings`, or a folder with its files and a file `findings`. A
finding is a line `<severity> <rule> <line>:<column>`, with the file's name before the line in a folder. Comments
`# containerd 2.3.7`, `# Kubernetes 1.36.1` and `# Windows ltsc2025` say what a user says with options.
"""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from lockstep.catalog.builds import resolve
from lockstep.finding import Finding
from lockstep.rules.checked import Checked
from lockstep.rules.everything import Inputs, check_all
from lockstep.rules.given.context import Context

MARK = "#### findings\n"
_SAID = re.compile(r"^\ufeff?# (Kubernetes|containerd|Windows) (\S+)$", re.MULTILINE)
_DEFAULT = {"Kubernetes": "1.36.1", "containerd": None, "Windows": None}


def checked(case: Path, folder: Path) -> tuple[Checked, list[str]]:
    """Return what is found in a case, whose files are written to a folder, and the findings that are expected."""
    if case.is_dir():
        shutil.copytree(case, folder, dirs_exist_ok=True)
        (folder / "findings").unlink()
        expected = (case / "findings").read_text(encoding="utf-8").splitlines()
    else:
        text, _, findings = case.read_text(encoding="utf-8").partition(MARK)
        (folder / case.name).write_text(text, encoding="utf-8")
        expected = [f"{case.name}:".join(_split(line.removeprefix("# "))) for line in findings.splitlines()]
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return check_all(Inputs(tuple(files), context=said(files))), sorted(expected)


def said(files: Iterable[Path]) -> Context:
    """Return what the files' comments say of releases and host."""
    found = _DEFAULT | {name: value for path in files for name, value in _SAID.findall(path.read_text("utf-8"))}
    host = found["Windows"]
    return Context(found["containerd"], found["Kubernetes"], resolve(host) if host else None)


def lines(findings: Iterable[Finding], folder: Path) -> list[str]:
    """Return findings as cases write them."""
    return sorted(f"{found.severity} {found.rule} {_place(found, folder)}" for found in findings)


def _place(found: Finding, folder: Path) -> str:
    place = found.place
    return f"{Path(place.file).relative_to(folder).as_posix()}:{place.line}:{place.column}" if place else "-"


def _split(line: str) -> tuple[str, str]:
    head, _, place = line.rpartition(" ")
    return f"{head} ", place
