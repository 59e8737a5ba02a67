"""Hands a kubelet_config_info task over to lockstep."""

from __future__ import annotations

import sys

from ansible.errors import AnsibleActionFail

try:
    from lockstep.ansible.action import NodeAction
    from lockstep.ansible.kubelet.info import read_configuration
    from lockstep.ansible.spec import argument_spec, module_file
except ImportError as error:
    raise AnsibleActionFail(
        "kubelet_config_info needs lockstep in the Python that runs Ansible: "
        f"{sys.executable} -m pip install lockstep-windows"
    ) from error


class ActionModule(NodeAction):
    """Reads kubelet's configuration on a Windows node."""

    spec = argument_spec(module_file(__file__))
    anew = True
    job = staticmethod(read_configuration)
