"""Hands a lockstep_node_info task over to lockstep."""

from __future__ import annotations

import sys

from ansible.errors import AnsibleActionFail

try:
    from lockstep.ansible.node_info import observer
    from lockstep.ansible.node_info_kept import KeepingAction
    from lockstep.ansible.node_info_others import defaults_of
    from lockstep.ansible.spec import argument_spec, module_file
except ImportError as error:
    raise AnsibleActionFail(
        "lockstep_node_info needs lockstep in the Python that runs Ansible: "
        f"{sys.executable} -m pip install lockstep-windows"
    ) from error


class ActionModule(KeepingAction):
    """Reads everything that matters of a Windows node."""

    spec = argument_spec(module_file(__file__))
    anew = True
    job = staticmethod(observer(defaults_of(module_file(__file__).parent)))
