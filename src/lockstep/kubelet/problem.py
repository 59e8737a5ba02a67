"""What is wrong with a KubeletConfiguration or a kubelet command line, and the error that ends the work on one."""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.finding import DataPath, Finding, Place, Severity


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: `path` is the field (or, for a command line, the flag) it is about.

    An error keeps kubelet from starting or the plan from being true; a warning does not. Texts are as in `Finding`.
    """

    rule: str
    severity: Severity
    path: DataPath
    message: str
    fix: str | None = None
    hint: str | None = None

    def finding(self, prefix: DataPath = (), place: Place | None = None) -> Finding:
        """Return the same as a finding, its path below `prefix`."""
        return Finding(self.rule, self.severity, prefix + self.path, self.message, self.hint, self.fix, place)


class KubeletConfigError(ValueError):
    """A KubeletConfiguration file that cannot be read or edited; `line` and `column` count from 1, or are None."""

    def __init__(self, message: str, fix: str, line: int | None = None, column: int | None = None) -> None:
        place = "" if line is None else f"line {line}, column {column}: "
        super().__init__(f"{place}{message}; {fix}")
        self.message = message
        self.fix = fix
        self.line = line
        self.column = column


class CommandLineError(ValueError):
    """A service command line that cannot be read or edited; the message ends in what to do."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}; {fix}")
        self.message = message
        self.fix = fix
