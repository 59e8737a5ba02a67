"""Hands a node_artifacts task over to lockstep."""

from __future__ import annotations

import sys
from typing import Any

from ansible.errors import AnsibleActionFail, AnsibleError

try:
    from lockstep.ansible.action import NodeAction
    from lockstep.ansible.artifacts.install import install
    from lockstep.ansible.errors import TaskError
    from lockstep.ansible.spec import argument_spec, module_file
except ImportError as error:
    raise AnsibleActionFail(
        "node_artifacts needs lockstep in the Python that runs Ansible: "
        f"{sys.executable} -m pip install lockstep-windows"
    ) from error


class ActionModule(NodeAction):
    """Puts the programs of a Kubernetes node on Windows."""

    spec = argument_spec(module_file(__file__))
    library = module_file(__file__).parent
    job = staticmethod(install)

    def work(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return what the task returns; files to send are looked for as Ansible's own `copy` does."""
        for item in arguments["artifacts"]:
            if item["src"]:
                try:
                    item["src"] = self._find_needle("files", item["src"])
                except AnsibleError as error:
                    facts = {"do": "give a full path, or put the file into files/ beside the playbook or in the role"}
                    raise TaskError(f"{item['name']}: the controller has no file {item['src']}", facts) from error
        return super().work(arguments)
