"""The one error of a task: what is wrong, then facts about it, each on lines of its own."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

_WIDTH = 80
_LABEL_WIDTH = 10
# A path is copied and searched for, so it stays in one piece: this folder is the only one with a space in it.
_IN_ONE_PIECE = re.compile(r"(?<=Program) (?=Files)")
_KEPT_SPACE = "\x00"


class TaskError(Exception):
    """A task that cannot be done. `str()` is the text for people; `result` is data that the task returns all the same.

    `facts` are shown below the message in their order, None and empty ones left out: `node`, `step`, `it said`, `do`.
    """

    def __init__(
        self, message: str, facts: Mapping[str, str | None] | None = None, result: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.facts = {label: text for label, text in (facts or {}).items() if text}
        self.result = dict(result or {})

    def __str__(self) -> str:
        facts = (
            wrapped(text.strip(), start=f"  {label:<{_LABEL_WIDTH}}", indent=" " * (_LABEL_WIDTH + 2))
            for label, text in self.facts.items()
        )
        return "\n".join([wrapped(self.message), *facts])


def in_role(option: str, variable: str) -> str:
    """Return a module's option as advice names it, with the variable that a role's user has for it.

    `in_role("service", "kubelet_service")` is "service (in the role, kubelet_service)".
    """
    return f"{option} (in the role, {variable})"


def command(text: str) -> str:
    """Return a command so that it stays in one line, however long, and can be copied."""
    return text.replace(" ", _KEPT_SPACE)


def listed(message: str, problems: Iterable[str]) -> str:
    """Return a message for several problems, each on lines of its own below it."""
    return "\n".join([message, *(wrapped(problem, start="  ", indent="    ") for problem in problems)])


def wrapped(text: str, start: str = "", indent: str = "") -> str:
    """Return text in lines of 80 columns: the first after `start`, all others after `indent` and their own indent.

    A word that is longer, such as a path, stays in one piece.
    """
    lines: list[str] = []
    for number, line in enumerate(_IN_ONE_PIECE.sub(_KEPT_SPACE, text).split("\n")):
        own = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(
            line.strip(),
            _WIDTH,
            initial_indent=(indent if number else start) + own,
            subsequent_indent=indent + own,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines).replace(_KEPT_SPACE, " ")
