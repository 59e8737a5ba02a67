"""Hands a lockstep_node_info task over to lockstep."""

from __future__ import annotations

import sys

from ansible.errors import AnsibleActionFail

try:
    from lockstep.ansible.node_info.action import InfoAction
    from lockstep.ansible.node_info.ahead import specs
    from lockstep.ansible.spec import argument_spec, module_file
except ImportError as error:
    raise AnsibleActionFail(
        "lockstep_node_info needs lockstep in the Python that runs Ansible: "
        f"{sys.executable} -m pip install lockstep-windows"
    ) from error


class ActionModule(InfoAction):
    """Reads everything that matters of a Windows node."""

    spec = argument_spec(module_file(__file__))
    library = module_file(__file__).parent
    known = specs(library)
