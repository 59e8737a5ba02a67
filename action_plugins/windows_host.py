"""Hands a windows_host task over to lockstep."""

from __future__ import annotations

import sys
from typing import Any

from ansible.errors import AnsibleActionFail

try:
    from lockstep.ansible.action import NodeAction
    from lockstep.ansible.cache import claim_name
    from lockstep.ansible.spec import argument_spec, module_file
    from lockstep.ansible.windows_host.configure import Surroundings, prepare
    from lockstep.node.session import Session
except ImportError as error:
    raise AnsibleActionFail(
        f"windows_host needs lockstep in the Python that runs Ansible: {sys.executable} -m pip install lockstep-windows"
    ) from error


class ActionModule(NodeAction):
    """Prepares Windows on a node."""

    # Whether the value of `reboot` is one, the job itself tells: it names the variable that people set.
    spec = argument_spec(module_file(__file__))
    library = module_file(__file__).parent
    spec["reboot"].pop("choices")

    def carry_out(self, session: Session, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what the task returns; the connection is made anew while Windows restarts."""
        around = Surroundings(self._reconnect, lambda name: claim_name(name, self._host))
        return prepare(session, arguments, around, check_mode=self._task.check_mode)

    def _reconnect(self) -> None:
        self._connection.reset()
