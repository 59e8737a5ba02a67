"""What a node_artifacts task does: read the node, fetch what it lacks, put it in place, or go back."""

from __future__ import annotations

import ntpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lockstep.ansible.artifacts.errors import explained, pin_command
from lockstep.ansible.artifacts.going_back import goes_back
from lockstep.ansible.artifacts.push import UPLOAD_TRANSACTION, check_files, pieces
from lockstep.ansible.artifacts.result import result
from lockstep.ansible.artifacts.sums import fetch_once
from lockstep.ansible.command_line import flag_value
from lockstep.ansible.containerd.node import (
    ADDRESS_FLAGS,
    CONFIG_FLAGS,
    CONTAINERD,
    DEFAULT_FILE,
    address,
    check_answer,
)
from lockstep.ansible.errors import TaskError, command, in_role, listed
from lockstep.ansible.node import Step, System, apply, read, same_path
from lockstep.artifacts import observed as seen
from lockstep.artifacts.observed import TRANSACTION, Observed, ServiceSeen
from lockstep.artifacts.plan import Planned, Task, fetching, plan
from lockstep.artifacts.published import Fetch, PublishedError, with_digests, with_known_digests
from lockstep.artifacts.request import Defaults, RequestError
from lockstep.artifacts.request import wanted as wanted_of
from lockstep.artifacts.wanted import Wanted
from lockstep.catalog.artifacts import known_services
from lockstep.node.operations import (
    Operation,
    Program,
    content_of,
    read_file,
    read_system,
)
from lockstep.node.session import Session
from lockstep.words import shortened

_STORE_TRANSACTION = "artifacts-store"
"""Fetching alone changes nothing that there would be to go back to; see `node_artifacts_push`."""


@dataclass(frozen=True, slots=True)
class ArtifactsNode:
    """A node and what it has of the artifacts. `containerd_file` is containerd's configuration, None where none is."""

    system: System
    observed: Observed
    containerd_file: bytes | None


def install(
    session: Session, arguments: Mapping[str, Any], *, check_mode: bool, fetch: Fetch = fetch_once
) -> dict[str, Any]:
    """Return the task's result; the node is changed unless in check mode or nothing is to be done.

    Raises TaskError where the artifacts cannot be put on the node; what runs there is then as it was.
    """
    asked = refuse_wrong_arguments(arguments)
    node = _read_node(session, arguments, asked)
    node.system.require(arguments["host"])
    wanted = _with_digests(with_known_digests(asked, node.observed), fetch, arguments["mirror"])
    job = _Job(session, arguments, wanted, node)
    check_files(job.planned.uploads)
    if check_mode:
        return job.result()
    if job.planned.undecided and not node.observed.pending:
        return _adopt(job)
    return job.done()


def read_operations(arguments: Mapping[str, Any]) -> list[Operation]:
    """Return the operations that show all that a task with these arguments needs to know. Raises TaskError."""
    return _operations(arguments, refuse_wrong_arguments(arguments))


def _operations(arguments: Mapping[str, Any], wanted: tuple[Wanted, ...]) -> list[Operation]:
    own: list[Operation] = [read_system(), read_file(DEFAULT_FILE)]
    return [*own, *seen.read_operations(arguments["store"], wanted, _services(arguments, wanted))]


def _read_node(session: Session, arguments: Mapping[str, Any], wanted: tuple[Wanted, ...]) -> ArtifactsNode:
    """Return what one read of the node shows. Raises TaskError where it cannot be read."""
    system, file, *rest = read(session, _operations(arguments, wanted))
    found = seen.observed(rest, wanted, _services(arguments, wanted))
    return ArtifactsNode(System.of(system), found, content_of(file))


class _Job:
    """A change of one node, planned from what was read there."""

    def __init__(
        self, session: Session, arguments: Mapping[str, Any], wanted: tuple[Wanted, ...], node: ArtifactsNode
    ) -> None:
        self.session, self.arguments, self.wanted, self.node = session, arguments, wanted, node
        self.root: str = arguments["store"]
        self.task = _task(node, arguments, wanted)
        self.planned = plan(node.observed, wanted, self.task)
        file = node.containerd_file if self._default_file() else None
        self.held = goes_back(node.system, file, self.planned.changes, again=node.observed.pending)
        if self.held:
            self.planned = plan(node.observed, wanted, replace(self.task, start=False))

    def result(self, before: Sequence[Planned] = ()) -> dict[str, Any]:
        """Return what the task returns, steps that it has done before included."""
        found = result(self.node.system, self.node.observed, self.planned, self.root, before)
        if self.held and any(step.operation["op"] == "service.stop" for step in self.planned.steps):
            found["warnings"].append(self.held)
        return found

    def _default_file(self) -> bool:
        service = self.node.observed.services.get("containerd")
        return service is not None and _loads_default_file(service)

    def done(self, before: Sequence[Planned] = ()) -> dict[str, Any]:
        """Do what is planned, if anything, and return what the task returns."""
        if self.planned.steps:
            self.push()
            self.apply(TRANSACTION, self.planned.steps)
        return self.result(before)

    def push(self) -> None:
        """Send what comes from the controller."""
        for piece in pieces(self.planned.uploads, self.node.observed, self.root):
            self.apply(UPLOAD_TRANSACTION, [piece])

    def apply(self, transaction: str, steps: Sequence[Planned]) -> None:
        """Do these steps or none. Raises TaskError that tells which artifact, which step, why and what to do."""
        try:
            applied = [Step(step.label, step.operation) for step in steps]
            apply(self.session, transaction, applied, self.node.system, "artifacts")
        except TaskError as error:
            raise explained(
                error, steps, self.planned.changes, self.root, self.arguments["mirror"]
            ) from error.__cause__


def _adopt(job: _Job) -> dict[str, Any]:
    """Fetch first, then decide: what is in place may be the very release that is asked for, put there by somebody else.

    So no service is stopped to replace a file by itself.
    """
    steps = fetching(job.planned, job.task)
    job.push()
    job.apply(_STORE_TRANSACTION, steps)
    node = _read_node(job.session, job.arguments, job.wanted)
    return _Job(job.session, job.arguments, job.wanted, node).done(steps)


def refuse_wrong_arguments(arguments: Mapping[str, Any]) -> tuple[Wanted, ...]:
    """Return what is asked for; a SHA-256 that is yet to be taken from published sums is missing.

    Raises TaskError that names everything of which nothing can be made; nothing is asked of the node.
    """
    given = {str(name): versions or {} for name, versions in arguments["pinned"].items()}
    pinned = {
        name: {str(version).removeprefix("v"): str(digest) for version, digest in versions.items()}
        for name, versions in given.items()
        if isinstance(versions, Mapping)
    }
    published, mirror, proxy = arguments["checksums"] == "published", arguments["mirror"], arguments["proxy"]
    defaults = Defaults(mirror or None, pinned, published, proxy or None)
    problems = [
        f"{in_role(f'pinned.{name}', 'artifacts_pinned')}: expected releases with their SHA-256, "
        f"got '{shortened(str(own))}'"
        for name, own in given.items()
        if not isinstance(own, Mapping)
    ]
    problems += _limits(arguments)
    try:
        found = wanted_of(arguments["artifacts"], defaults)
    except RequestError as error:
        problems += error.problems
    if problems:
        raise TaskError(listed("these artifacts cannot be put on a node:", problems))
    return found


def _limits(arguments: Mapping[str, Any]) -> list[str]:
    problems = []
    if arguments["keep"] < 0:
        problems.append(f"keep: {arguments['keep']} is no number of releases: expected 0 or more")
    most = 3600
    if not 1 <= arguments["download_timeout"] <= most:
        problems.append(
            f"download_timeout: {arguments['download_timeout']} is out of range: expected 1 to {most} seconds"
        )
    if not ntpath.splitdrive(arguments["store"])[0].endswith(":"):
        problems.append(f"store: '{arguments['store']}' is no full Windows path: expected one with a drive letter")
    problems += [
        f"services: there is no '{kind}': expected {', '.join(known_services())}"
        for kind in arguments["services"]
        if kind not in known_services()
    ]
    return problems


def _services(arguments: Mapping[str, Any], wanted: tuple[Wanted, ...]) -> dict[str, str]:
    return seen.service_names(wanted, arguments["services"], known_services())


def _with_digests(wanted: tuple[Wanted, ...], fetch: Fetch, mirror: str | None) -> tuple[Wanted, ...]:
    try:
        return with_digests(wanted, fetch)
    except PublishedError as error:
        message = listed("the published SHA-256 of these artifacts cannot be had, so nothing was done:", error.problems)
        missing = [each for each in wanted if not each.digest]
        raise TaskError(
            message,
            {
                "do": "let the controller reach them, or pin them (pinned, in the role artifacts_pinned): where they "
                f"can be reached, this prints them\n{command(pin_command(missing, mirror))}"
            },
        ) from error


def _task(node: ArtifactsNode, arguments: Mapping[str, Any], wanted: tuple[Wanted, ...]) -> Task:
    return Task(
        root=arguments["store"],
        keep=arguments["keep"],
        backup=arguments["backup"],
        timeout=arguments["timeout"],
        download_timeout=arguments["download_timeout"],
        health=_health(node, wanted, arguments["timeout"]),
        start=arguments["start"],
    )


def _loads_default_file(service: ServiceSeen) -> bool:
    return same_path(flag_value(service.command_line, CONFIG_FLAGS) or DEFAULT_FILE, DEFAULT_FILE)


def _health(node: ArtifactsNode, wanted: tuple[Wanted, ...], timeout: int) -> dict[str, Operation]:
    """Return what containerd has to answer once it runs again, where it is known how to ask it."""
    service = node.observed.services.get("containerd")
    ctr = next((file.path for each in wanted for file in each.files if file.name.lower() == "ctr.exe"), None)
    if service is None or ctr is None or CONTAINERD not in service.command_line.lower():
        return {}
    if not _loads_default_file(service):
        return {}
    try:
        pipe = address(node.containerd_file, flag_value(service.command_line, ADDRESS_FLAGS))
    except ValueError:
        return {}
    return {"containerd": check_answer(Program(path=ctr), pipe, timeout)}
