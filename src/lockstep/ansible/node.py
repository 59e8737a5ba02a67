"""What the jobs know of a node, and how its errors become a task's."""

from __future__ import annotations

import ntpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.ansible.errors import TaskError, in_role
from lockstep.catalog.builds import Build, UnknownBuild, resolve
from lockstep.node.errors import AgentError, NodeError
from lockstep.node.operations import Operation, Program, Result, run_program
from lockstep.node.session import Applied, Session

_RELEASE = re.compile(r"\bv?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)")


_ADVICE = {
    "conflict": "run again: the change is merged into what is there now",
    "denied": "connect as an administrator of the node; where that is so already, look at who owns what is named "
    "above, and whom its access list lets in (icacls tells it of a file or folder)",
    "in_use": "find out which process holds the file open, then run again",
    "is_directory": "name the file itself, not its folder",
}
"""What to do about an error of the contract, where its code alone tells."""
_DEPENDENCY = re.compile(r"it depends on (\S+), which is")
_DID_NOT_STOP = re.compile(r"did not stop\b")
"""The agent's words. Source: src/lockstep/node/agent/services.ps1."""
_AS_BEFORE = "everything is as it was before"
_TIMEOUT_OF = {"kubelet": "kubelet_timeout", "containerd": "containerd_timeout", "artifacts": "artifacts_timeout"}
"""The role's variable for the seconds that a service may take, by what the change is for."""


class ConnectionBrokeError(AgentError):
    """The connection to the node ended while a command ran there; the text is the connection's own."""


@dataclass(frozen=True, slots=True)
class System:
    """Which Windows a node is."""

    name: str
    build: str
    product: str

    @classmethod
    def of(cls, result: Result) -> System:
        """Return what a `system.read` found."""
        return cls(result["computer_name"], result["build"], result["product"])

    def __str__(self) -> str:
        return f"{self.name} ({self.product}, {self.build})"

    def data(self) -> dict[str, str]:
        """Return what a task returns of it."""
        return {"name": self.name, "build": self.build, "product": self.product}

    def require(self, host: str | None) -> None:
        """Raise TaskError unless this is the Windows build that a pool describes as its host; None takes any."""
        if host is None:
            return
        try:
            described = resolve(host)
        except UnknownBuild as error:
            near = f"; did you mean '{error.suggestion}'?" if error.suggestion else ""
            raise TaskError(f"host: {error.message}{near}") from error
        try:
            found = resolve(self.build)
        except UnknownBuild as error:
            raise TaskError(error.message, {"node": str(self)}) from error
        if found != described:
            raise TaskError(
                f"this node is {found}, but its pool describes host {described.alias} ({described.number})",
                {"node": str(self), "do": _other_pool(found)},
            )


@dataclass(frozen=True, slots=True)
class Service:
    """A service as Windows has it; `state` and the command line are empty where it is not registered."""

    name: str
    exists: bool
    state: str = ""
    start_type: str = ""
    binary_path: str = ""

    @classmethod
    def of(cls, name: str, result: Result) -> Service:
        """Return what a `service.read` found."""
        texts = {key: str(result.get(key, "")) for key in ("state", "start_type", "binary_path")}
        return cls(name, bool(result["exists"]), **texts)

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self.state == "running"

    def data(self) -> dict[str, Any]:
        """Return what a task returns of it."""
        if not self.exists:
            return {"name": self.name, "exists": False}
        texts = {key: getattr(self, key) for key in ("state", "start_type", "binary_path")}
        return {"name": self.name, "exists": True, **texts}


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of an apply, and what people call it: `restart service containerd`."""

    label: str
    operation: Operation


def restarts(steps: Sequence[Step]) -> bool:
    """Return whether a service is restarted by one of the steps."""
    return any(step.operation["op"] == "service.restart" for step in steps)


def ask_release(program: Program, timeout_seconds: int) -> Operation:
    """Return the operation whose result `release_of` takes."""
    return run_program(program, ["--version"], timeout_seconds=timeout_seconds)


def release_of(result: Result) -> str | None:
    """Return the release that a program's `--version` tells (`2.3.4`), or None where it tells none.

    containerd prints `containerd github.com/containerd/containerd/v2 v2.3.4 <commit>`, kubelet `Kubernetes v1.36.1`.
    """
    match = _RELEASE.search(result.get("stdout", "")) if result["found"] else None
    return match[1] if match else None


def same_path(one: str, other: str) -> bool:
    """Return whether two Windows paths are one file's, as far as the text tells."""
    return ntpath.normcase(ntpath.normpath(one)) == ntpath.normcase(ntpath.normpath(other))


def file_diff(path: str, before: str, after: str) -> dict[str, str]:
    """Return one entry of a task's `diff`."""
    return {"before": before, "after": after, "before_header": path, "after_header": path}


def read(session: Session, operations: Sequence[Operation]) -> list[Result]:
    """Return one result an operation. Raises TaskError where the node does not answer, or refuses one of them."""
    try:
        return session.read(operations)
    except NodeError as error:
        system = next(
            (str(System.of(result)) for result in error.results if result["op"] == "system.read" and result["ok"]), None
        )
        facts = {"node": system, "it said": error.message, "do": _advice(error)}
        can = "run" if error.operation == "program.run" else "read"
        raise TaskError(f"{error.subject or 'the node'} cannot be {can}, so nothing was done", facts) from error
    except ConnectionBrokeError as error:
        facts = {"it said": str(error), "do": "run again when the node can be reached"}
        raise TaskError("the connection broke while the node was read, so nothing was done", facts) from error
    except AgentError as error:
        raise TaskError(str(error)) from error


def apply(
    session: Session, transaction: str, steps: Sequence[Step], system: System, subject: str, *, log: str | None = None
) -> Applied:
    """Do all steps or none, for the sake of `subject` (`containerd`), whose service writes to the file `log`.

    Raises TaskError that names the step which failed, the node's own words, and what is left.
    """
    try:
        return session.apply(transaction, [step.operation for step in steps])
    except NodeError as error:
        raise _failure(error, steps, system, subject, log) from error
    except ConnectionBrokeError as error:
        facts = {"node": str(system), "it said": str(error), "do": "run again: an interrupted run is completed"}
        raise TaskError("the connection broke while the change was being made", facts) from error
    except AgentError as error:
        facts = {"node": str(system), "do": "run again: whatever was left half done is completed then"}
        raise TaskError(str(error), facts) from error


def _other_pool(found: Build) -> str:
    host = f"host {found.alias}"
    return f"put this node into the inventory group of a pool with {host}, or describe its pool with {host}"


def _failure(error: NodeError, steps: Sequence[Step], system: System, subject: str, log: str | None) -> TaskError:
    facts: dict[str, str | None] = {"node": str(system), "step": _step(error, steps)}
    facts["it said"] = "\n".join(part for part in (error.message, error.output) if part)
    # A service that was not even started has refused nothing.
    refused = () if _DEPENDENCY.search(error.message) else error.rejected
    facts["file"] = "\n".join(_rejected(path, steps) for path in refused)
    facts["left"] = "\n".join(error.rollback_errors)
    facts["log"] = log if _of_service(error) else None
    facts["do"] = _service_advice(error, subject, log) or _advice(error)
    return TaskError(_summary(error, steps, subject), facts, {"rolled_back": bool(error.rolled_back)})


def _rejected(path: str, steps: Sequence[Step]) -> str:
    """Return what became of a file, which may not have been there before."""
    name, kept = path.removesuffix(".rejected"), ntpath.basename(path)
    new = any(
        step.operation.get("path") == name and step.operation.get("expect_sha256", "") is None
        for step in steps
        if step.operation["op"] == "file.write"
    )
    return (
        f"{path} (what was written; there was no such file before)"
        if new
        else (f"{name} (as it was; the rejected one is {kept})")
    )


def _is_new(step: Step) -> bool:
    """Return whether a step registers a service, so that there was none before."""
    return step.operation["op"] == "service.define" and step.operation.get("expect_binary_path", "") is None


def _of_service(error: NodeError) -> bool:
    """Return whether a service did not do as it should, so that its log may tell why."""
    return error.code in {"service_failed", "timeout", "check_failed"} and not _DEPENDENCY.search(error.message)


def _stops(error: NodeError) -> bool:
    """Return whether it is a service that did not stop."""
    return error.code == "timeout" and (
        error.operation == "service.stop" or _DID_NOT_STOP.search(error.message) is not None
    )


def _service_advice(error: NodeError, subject: str, log: str | None) -> str:
    """Return what to do about a service that did not start or stop, where more can be told than of any error."""
    needed = _DEPENDENCY.search(error.message)
    if error.code == "service_failed" and needed:
        return f"find out why service {needed[1]} does not run (its log and Windows' event log tell), then run again"
    if error.code == "timeout" and subject in _TIMEOUT_OF and error.rolled_back:
        look = f"look into {log} for what it waits for" if log else "look into its log for what it waits for"
        return f"{look}, or give it more time with {in_role('timeout', _TIMEOUT_OF[subject])}, then run again"
    return ""


def _summary(error: NodeError, steps: Sequence[Step], subject: str) -> str:
    if error.code == "conflict":
        return f"somebody else changed {error.subject} while this task ran, so it was left alone"
    if not error.rolled_back:
        return f"{subject} could not be configured, and not everything is as it was before"
    restart = next((index for index, step in enumerate(steps) if step.operation["op"] == "service.restart"), len(steps))
    if error.code == "check_failed" and (error.step or 0) < restart:
        return f"{subject} refuses the new configuration, so the old one is back; the service was not touched"
    if error.code in {"service_failed", "timeout", "check_failed"}:
        return _service_summary(error, steps, subject)
    return f"{subject} could not be configured, and {_AS_BEFORE}"


def _service_summary(error: NodeError, steps: Sequence[Step], subject: str) -> str:
    if _stops(error):
        return f"a service did not stop in time for {subject} to be configured, and {_AS_BEFORE}"
    if error.code == "service_failed" and _DEPENDENCY.search(error.message):
        return f"{subject} did not start, because it depends on a service that does not run; {_AS_BEFORE}"
    back = f"so {_AS_BEFORE}" if any(_is_new(step) for step in steps) else "so the old one is back"
    return f"{subject} did not come up with the new configuration, {back}"


def _step(error: NodeError, steps: Sequence[Step]) -> str:
    if error.step is None:
        return ""
    outcome = {
        "service_failed": "stopped again" if error.after_seconds else "did not start",
        "timeout": "was not up in time",
        "check_failed": "never gave what it should",
    }.get(error.code, error.code.replace("_", " "))
    if _stops(error):
        outcome = "did not stop in time"
    if error.after_seconds:
        outcome += f" after {error.after_seconds:.1f} s"
    if error.exit_code is not None:
        outcome += f", exit code {error.exit_code}"
    return f"{error.step + 1} of {len(steps)}, {steps[error.step].label}: {outcome}"


def _advice(error: NodeError) -> str:
    if error.code in _ADVICE:
        return _ADVICE[error.code]
    if error.operation == "program.run" and error.code == "io":
        return "see that this file is a program for this machine (the role artifacts brings it), then run again"
    if error.rolled_back is False:
        return "remove the cause, then run again: that settles what is left"
    if error.rejected:
        return (
            "correct what is named above; --check --diff shows what would change, the rejected file is kept on the node"
        )
    return "remove the cause, then run again"
