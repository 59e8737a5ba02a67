"""The one error of a task: what is wrong, then facts about it, each on a line of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LABEL_WIDTH = 10


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
        return "\n".join([self.message, *(_line(label, text) for label, text in self.facts.items())])


def _line(label: str, text: str) -> str:
    first, *others = text.strip().splitlines()
    indent = " " * (_LABEL_WIDTH + 2)
    return "\n".join([f"  {label:<{_LABEL_WIDTH}}{first}", *(f"{indent}{line}" for line in others)])
