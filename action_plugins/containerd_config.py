"""Hands a containerd_config task over to lockstep."""

from __future__ import annotations

import sys

from ansible.errors import AnsibleActionFail

try:
    from lockstep.ansible.action import NodeAction
    from lockstep.ansible.containerd.configure import configure
    from lockstep.ansible.spec import argument_spec, module_file
except ImportError as error:
    raise AnsibleActionFail(
        "containerd_config needs lockstep in the Python that runs Ansible: "
        f"{sys.executable} -m pip install lockstep-windows"
    ) from error


class ActionModule(NodeAction):
    """Configures containerd on a Windows node."""

    spec = argument_spec(module_file(__file__))
    library = module_file(__file__).parent
    job = staticmethod(configure)
