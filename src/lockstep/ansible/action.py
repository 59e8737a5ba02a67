"""The bases of the action plugins: arguments in, a job run, a result or one clear error out."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from lockstep.ansible.errors import TaskError
from lockstep.ansible.plain import to_plain


class JobAction(ActionBase):  # type: ignore[misc]  # ansible-core has no type information, so its classes are Any
    """An action whose work is a function of plain data. `spec` is its module's argument spec."""

    spec: dict[str, Any]

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the task's result as plain data. A failure is a result too, so that what is known of it is returned."""
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
