"""The bases of the action plugins: arguments in, a job run, a result or one clear error out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

from lockstep.ansible.arguments import accepted
from lockstep.ansible.cache import CACHE_VARIABLE, run_cache
from lockstep.ansible.errors import TaskError
from lockstep.ansible.fleet import preload
from lockstep.ansible.later import LaterTaskError, refuse_later
from lockstep.ansible.node import ConnectionBrokeError
from lockstep.ansible.play import module_of
from lockstep.node.cache import FileCache
from lockstep.node.errors import AgentError, NodeError
from lockstep.node.session import Completed, Session

preload()


class JobAction(ActionBase):  # type: ignore[misc]  # ansible-core has no type information, so its classes are Any
    """An action whose work is a function of plain data. `spec` is its module's argument spec."""

    spec: dict[str, Any]

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the task's result as plain data. A failure is a result too: what is known of it is returned."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        try:
            outcome = self.work(accepted(module_of(self._task), self.spec, self._task.args))
        except TaskError as error:
            return {**result, **error.result, "failed": True, "msg": str(error)}
        if not self._task.diff:
            outcome.pop("diff", None)
        return {**result, **outcome}

    @abstractmethod
    def work(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what the task returns for these arguments; raises TaskError."""


class NodeAction(JobAction):
    """An action that configures or reads the node of the task through the agent."""

    job: Callable[..., dict[str, Any]]
    anew = False
    """Whether the node is read whatever is known of it: what only reports tells what is there now."""
    library: Path
    """The folder of the modules; an action that only reads need not say."""
    _reached = False
    _host = ""
    _variables: Mapping[str, Any] = {}
    _cache: FileCache | None = None

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the task's result as plain data."""
        self._variables = task_vars or {}
        self._host = str(self._variables.get("inventory_hostname", ""))
        wanted = self._templar.template(self._variables.get(CACHE_VARIABLE, True))
        if boolean(wanted, strict=False):
            self._cache = run_cache(self._task, self._connection)
        result = super().run(tmp, task_vars)
        # Ansible shows a warning once, and without its host: one that two nodes have in common would be told once.
        if self._host and result.get("warnings"):
            result["warnings"] = [f"{self._host}: {text}" for text in result["warnings"]]
        return result

    def work(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what `job` returns for these arguments on this node."""
        # Windows' become (runas) does not reach commands that an action plugin starts, so it would be ignored silently.
        # The connection has it from wherever it was asked for: the task, the play or the variable ansible_become.
        if self._connection.become:
            raise TaskError(
                f"{self._task.action} does not support become",
                {
                    "do": "take away what asks for it, `become: true` or the variable ansible_become, "
                    "and connect as an administrator of the node"
                },
            )
        session = self._session(anew=self.anew)
        try:
            return self._do(session, arguments)
        except TaskError as error:
            if not _may_be_outdated(session, error):
                raise
            return self._do(self._session(anew=True), arguments)

    def _session(self, *, anew: bool) -> Session:
        return Session(self._execute, self._cache, anew=anew, before_change=self._refuse_later)

    def _refuse_later(self) -> None:
        refuse_later(self._task, self._variables, self._templar, self.library)

    def _do(self, session: Session, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what `job` returns. What was known of the node is no base for anything once it failed."""
        try:
            return self.carry_out(session, arguments)
        except LaterTaskError as error:
            raise TaskError(str(error)) from error
        except BaseException as error:
            session.forget()
            if isinstance(error, TaskError) and isinstance(error.__cause__, ConnectionBrokeError):
                error.facts = {"node": _node(self._host, error.facts.get("node", "")), **_others(error.facts)}
            raise

    def carry_out(self, session: Session, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what `job` returns; for an action whose job needs more than this to override."""
        return type(self).job(session, arguments, check_mode=self._task.check_mode)

    def _execute(self, command: str, standard_input: bytes) -> Completed:
        try:
            completed = self._low_level_execute_command(command, sudoable=False, in_data=standard_input)
        except Exception as error:
            # A host that was never reached is one that Ansible counts as unreachable, in its own words.
            if isinstance(error, AnsibleConnectionFailure) and not self._reached:
                raise
            # Connections raise what the libraries below them raise, requests' and others' errors among that.
            raise ConnectionBrokeError(str(error)) from error
        self._reached = True
        return Completed(int(completed["rc"]), str(completed["stdout"]), str(completed["stderr"]))


def _node(host: str, known: str) -> str:
    """Return what a node is called in the inventory, and what is known of it besides."""
    return known if known.lower().startswith(host.lower()) else ", ".join(filter(None, (host, known)))


def _others(facts: dict[str, str]) -> dict[str, str]:
    return {label: text for label, text in facts.items() if label != "node"}


def _may_be_outdated(session: Session, error: TaskError) -> bool:
    """Return whether the task may have failed only because somebody changed the node after it was read."""
    cause = error.__cause__
    if not session.remembered or isinstance(cause, LaterTaskError):
        return False
    if isinstance(cause, AgentError) and not isinstance(cause, NodeError):
        return False
    return not session.applied or (isinstance(cause, NodeError) and cause.code == "conflict")
