"""Hands a runtimeclass_manifests task over to lockstep."""

from __future__ import annotations

import sys
from typing import Any

from ansible.errors import AnsibleActionFail

try:
    from lockstep.ansible.action import JobAction
    from lockstep.ansible.runtimeclass_manifests import render_into_folder
    from lockstep.ansible.spec import argument_spec, module_file
except ImportError as error:
    raise AnsibleActionFail(
        "runtimeclass_manifests needs lockstep in the Python that runs Ansible: "
        f"{sys.executable} -m pip install lockstep-windows"
    ) from error


class ActionModule(JobAction):
    """Renders the RuntimeClasses of a fleet into a folder of the controller."""

    spec = argument_spec(module_file(__file__))

    def work(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what was written; the node of the task is not asked."""
        return render_into_folder(arguments, check_mode=self._task.check_mode)
