"""What the documentation of every module that speaks to a node has in common."""

from __future__ import annotations


class ModuleDocFragment:
    """Taken in by `extends_documentation_fragment: lockstep.windows.node`."""

    # Ansible takes no fragment without options or attributes.
    DOCUMENTATION = r"""
options: {}
requirements:
  - lockstep-windows, in the Python that runs Ansible
notes:
  - Works over the connections P(ansible.builtin.winrm#connection) and P(ansible.builtin.psrp#connection). The node
    needs no Python.
  - C(become) is not supported, and refused. Connect as an administrator.
author:
  - The Lockstep authors
"""
