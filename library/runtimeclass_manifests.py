# Copyright: the Lockstep authors
# Apache-2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: runtimeclass_manifests
short_description: Renders the RuntimeClasses of a fleet into a folder
description:
  - Writes one manifest a RuntimeClass and a C(kustomization.yaml), on the controller. No node and no cluster is asked.
  - The same description always gives the same bytes, the ones that C(lockstep render) writes.
version_added: "0.1.0"
options:
  fleet:
    description: The description of the fleet, as in the inventory's variable C(lockstep_fleet).
    type: dict
    required: true
  dest:
    description: The folder on the controller. It is made if it is not there. A relative path starts at the working
      directory.
    type: path
    required: true
  prune:
    description:
      - Whether manifests that were rendered earlier, and whose class is no longer in the description, are removed.
      - Files that were not rendered by lockstep are never touched.
    type: bool
    default: true
attributes:
  check_mode:
    description: Says which manifests are stale, without writing.
    support: full
  diff_mode:
    description: Shows every manifest that differs, before and after.
    support: full
requirements:
  - lockstep-windows, in the Python that runs Ansible
notes:
  - Runs on the controller whatever the host of the task is. Give the task C(run_once).
seealso:
  - module: lockstep.windows.containerd_config
author:
  - The Lockstep authors
"""

EXAMPLES = r"""
- name: Render the RuntimeClasses of the fleet
  lockstep.windows.runtimeclass_manifests:
    fleet: "{{ lockstep_fleet }}"
    dest: build/runtimeclasses
  run_once: true

- name: Fail if the committed manifests are stale
  lockstep.windows.runtimeclass_manifests:
    fleet: "{{ lockstep_fleet }}"
    dest: build/runtimeclasses
  check_mode: true
  diff: true
  run_once: true
  register: manifests
  failed_when: manifests is changed
"""

RETURN = r"""
dest:
  description: The folder.
  returned: success
  type: str
manifests:
  description: Names of the files that the description gives, in order.
  returned: success
  type: list
  elements: str
  sample: [kustomization.yaml, windows-2022.yaml]
written:
  description: Names of the files that were written (in check mode, would be).
  returned: success
  type: list
  elements: str
removed:
  description: Names of the files that were removed (in check mode, would be).
  returned: success
  type: list
  elements: str
"""
