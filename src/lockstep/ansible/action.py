"""The bases of the action plugins: arguments in, a job run, a result or one clear error out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from lockstep.ansible.errors import TaskError
from lockstep.ansible.fleet import preload
from lockstep.ansible.plain import to_plain
from lockstep.node.session import Completed, Session

preload()


class JobAction(ActionBase):  # type: ignore[misc]  # ansible-core has no type information, so its classes are Any
    """An action whose work is a function of plain data. `spec` is its module's argument spec."""

    spec: dict[str, Any]

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the task's result as plain data. A failure is a result too: what is known of it is returned."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _, arguments = self.validate_argument_spec(self.spec)
        try:
            plain = to_plain(arguments)
        except TypeError as error:
            raise AnsibleActionFail(str(error), obj=self._task.args) from error
        try:
            outcome = self.work(plain)
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

    def work(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what `job` returns for these arguments on this node."""
        # Windows' become (runas) does not reach commands that an action plugin starts, so it would be ignored silently.
        if self._task.become:
            raise TaskError(
                f"{self._task.action} does not support become",
                {"do": "set become: false for this task, and connect as an administrator of the node"},
            )
        return type(self).job(Session(self._execute), arguments, check_mode=self._task.check_mode)

    def _execute(self, command: str, standard_input: bytes) -> Completed:
        completed = self._low_level_execute_command(command, sudoable=False, in_data=standard_input)
        return Completed(int(completed["rc"]), str(completed["stdout"]), str(completed["stderr"]))
