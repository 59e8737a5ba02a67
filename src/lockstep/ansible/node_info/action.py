"""The action of lockstep_node_info: it reads for later tasks too, and keeps what it read on the controller."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleConnectionFailure

from lockstep.ansible.action import NodeAction
from lockstep.ansible.errors import TaskError
from lockstep.ansible.node_info.ahead import Given, asked_ahead, tasks_ahead
from lockstep.ansible.node_info.observe import observe
from lockstep.ansible.node_info.overrides import overrides
from lockstep.ansible.plain import to_plain

ENDING = ".json"


class InfoAction(NodeAction):
    """An action that reads what later tasks will ask, and keeps what it read in the folder `dest`, if it has one."""

    known: Mapping[str, Mapping[str, Any]]
    """The argument specs of the modules whose tasks it reads for."""
    anew = True
    job = staticmethod(observe)
    _ahead: tuple[Given, ...] = ()

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the task's result; a node that cannot be reached is kept as such, and then told as ever."""
        self._ahead = tuple(tasks_ahead(self._task, task_vars or {}, self._templar, self.known))
        try:
            result = super().run(tmp, task_vars)
        except AnsibleConnectionFailure as error:
            self._keep(task_vars or {}, {"unreachable": True, "error": str(error)})
            raise
        said = {"error": result["msg"]} if result.get("failed") else {"node": result["node"]}
        try:
            self._keep(task_vars or {}, said)
        except TaskError as error:
            return {**result, "failed": True, "msg": str(error)}
        return result

    def work(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what was read."""
        return super().work({**arguments, "ahead": asked_ahead(self._ahead, self.known)})

    def _keep(self, variables: dict[str, Any], said: dict[str, Any]) -> None:
        folder = to_plain(self._task.args.get("dest"))
        if not isinstance(folder, str) or not folder or self._task.check_mode:
            return
        names = ("inventory_hostname", "group_names")
        host, groups = (to_plain(self._templar.template(variables.get(name, ""))) for name in names)
        path = Path(folder).expanduser() / f"{host}{ENDING}"
        beside = path.with_name(f".{path.name}.new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            own = overrides(variables, self._templar, self._loader, self.library)
            document = {"host": host, "groups": list(groups), **({"overrides": own} if own else {}), **said}
            beside.write_text(json.dumps(document, indent=2, default=str) + "\n", encoding="utf-8")
            beside.replace(path)
        except OSError as error:
            raise TaskError(f"{path} cannot be written: {error.strerror or error}") from error
