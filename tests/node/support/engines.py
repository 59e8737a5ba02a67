"""What a case needs of an engine, whichever runs it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from tests.node.support.cases import Case, ServiceNow

from lockstep.node.session import Completed
from lockstep.node.wire import command_line, parse_reply, standard_input


class Bench(Protocol):
    """One engine with a node that cases can be set up on."""

    name: str
    """The word that a case's `not_on` uses."""

    def set_up(self, case: Case) -> AbstractContextManager[None]:
        """Bring about the state before; on leaving, take away what can disturb others."""

    def run(self, command: str, stdin: bytes) -> Completed:
        """Run a command line on the node."""

    def files(self, case: Case) -> Mapping[str, bytes]:
        """Return the case's files, its journal included."""

    def services(self, names: Sequence[str]) -> Mapping[str, ServiceNow]:
        """Return what the service manager says."""


def ask(bench: Bench, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node's answer to a request, sent unchecked: whether it refuses what is wrong is for the node to show."""
    done = bench.run(command_line(), standard_input(request))
    return parse_reply(request, done.returncode, done.stdout, done.stderr)


def parts(text: str) -> Iterator[str]:
    """Yield the JSON documents of a text with one a line."""
    yield from (line for line in text.splitlines() if line.startswith(("{", "[")))


def parse_states(text: str) -> dict[str, ServiceNow]:
    """Read what `testservice states` prints."""
    found = json.loads(next(parts(text)))
    return {name: ServiceNow(**value) for name, value in found.items() if value}
