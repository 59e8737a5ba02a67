# Copyright: the Lockstep authors
# Apache-2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: containerd_config
short_description: Configures containerd on a Windows node
description:
  - Merges handlers, the default handler and the pause image into C(config.toml), whatever is in it already.
    Everything that this module does not manage stays as it is, comments, order and line endings included. Only a byte
    order mark goes where containerd would stop at it, from 2.0 on; the task warns of that.
  - The service is restarted only if the file changed. C(containerd.exe) has to accept the new file before the service
    is touched, and the task succeeds only if the service then comes up and lists every handler. Otherwise the former
    file is put back, the service runs on it again, and the task fails with the node's own words.
  - Files of version 2, 3 and 4 are read and edited in place. A new file has version 2 for containerd 1.x and 3 for 2.x.
  - A run that was interrupted, at whatever point, is completed by the next one.
version_added: "0.1.0"
options:
  version:
    description:
      - The containerd release that the node has, for example V(2.3.4). It decides the form of the file and which keys
        exist.
      - The task fails without touching anything if the node has another release.
    type: str
    required: true
  host:
    description:
      - The Windows build that the node must have, as the description of the fleet says it, V(ltsc2022), V(20348) or
        V(10.0.20348). The revision does not matter.
      - The task fails without touching anything if the node has another build. Any build will do if not given.
    type: str
  state:
    description:
      - V(present) puts what the other options say into the file.
      - V(absent) takes the handlers that are named here out of the file, and the default handler and the pause image
        if the file still has the ones that are named here. Keys that somebody else added to such a handler stay.
    type: str
    choices: [present, absent]
    default: present
  handlers:
    description:
      - The handlers, each stated in full.
      - The filter P(lockstep.windows.lockstep_pool#filter) gives them from the description of the fleet.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: The handler's name, which a RuntimeClass refers to. A DNS label.
        type: str
        required: true
      isolation:
        description:
          - What the handler is for. It must agree with the option C(SandboxIsolation) in O(handlers[].options), which
            is what the shim reads.
        type: str
        choices: [process, hyperv]
      runtime_type:
        description: The shim.
        type: str
        default: io.containerd.runhcs.v1
      pod_annotations:
        description: Patterns of pod annotations that are handed to the shim.
        type: list
        elements: str
        default: []
      container_annotations:
        description: Patterns of container annotations that are handed to the shim.
        type: list
        elements: str
        default: []
      options:
        description: Options of the shim, in its own spelling (C(SandboxIsolation)) and type.
        type: dict
        default: {}
      sandboxer:
        description: Who creates sandboxes; exists from containerd 2.0 on.
        type: str
  default_handler:
    description:
      - The handler of pods that name none. One of O(handlers), or one that the file has already.
      - Left as it is if not given.
    type: str
  pause_image:
    description:
      - The pause (sandbox) image. It must have a manifest for the node's Windows build.
      - Left as it is if not given.
    type: str
  exclusive_handlers:
    description:
      - Whether handlers that are not in O(handlers) are removed from the file.
      - Without it the task warns of handlers for Windows containers that are in the file, but neither in O(handlers)
        nor containerd's own.
    type: bool
    default: false
  path:
    description: Full path of the configuration file. The service must load this file.
    type: str
    default: C:\Program Files\containerd\config.toml
  service:
    description: The name of containerd's service.
    type: str
    default: containerd
  crictl:
    description:
      - Full path of C(crictl.exe), which is asked for the handlers that containerd has loaded.
      - By default it is looked for beside C(containerd.exe). Where there is none, C(ctr.exe version) and
        C(containerd.exe config dump) are asked instead.
    type: str
  backup:
    description: Whether the former file is kept beside the new one as C(config.toml.<UTC time>.bak).
    type: bool
    default: false
  timeout:
    description: Seconds that the service may take to come up, and again to list its handlers; 1 to 3600.
    type: int
    default: 120
attributes:
  check_mode:
    description: Says what would change, without changing anything.
    support: full
  diff_mode:
    description: Shows the file before and after. The diff in check mode is byte for byte what a run then does.
    support: full
requirements:
  - lockstep-windows, in the Python that runs Ansible
notes:
  - Works over the connections P(ansible.builtin.winrm#connection) and P(ansible.builtin.psrp#connection). The node
    needs no Python.
  - C(become) is not supported, and refused. Connect as an administrator.
seealso:
  - module: lockstep.windows.containerd_config_info
  - module: lockstep.windows.kubelet_config
author:
  - The Lockstep authors
"""

EXAMPLES = r"""
- name: Give the node what its pool needs, and take every other handler away
  lockstep.windows.containerd_config:
    version: "{{ pool.containerd.version }}"
    host: "{{ pool.host }}"
    handlers: "{{ pool.containerd.handlers }}"
    default_handler: "{{ pool.containerd.default_handler }}"
    pause_image: "{{ pool.containerd.pause_image }}"
    exclusive_handlers: true
  vars:
    pool: "{{ lockstep_fleet | lockstep.windows.lockstep_pool(group_names) }}"

- name: State a Hyper-V handler by hand
  lockstep.windows.containerd_config:
    version: 2.3.4
    handlers:
      - name: runhcs-wcow-process
        isolation: process
        container_annotations: ["io.microsoft.container.*"]
        options:
          SandboxPlatform: windows/amd64
          SandboxIsolation: 0
      - name: runhcs-wcow-hypervisor
        isolation: hyperv
        pod_annotations: ["io.microsoft.virtualmachine.*"]
        container_annotations: ["io.microsoft.container.*"]
        options:
          SandboxPlatform: windows/amd64
          SandboxIsolation: 1
          VmMemorySizeInMb: 2048
          VmProcessorCount: 2
    backup: true

- name: Take a handler away again
  lockstep.windows.containerd_config:
    version: 2.3.4
    state: absent
    handlers:
      - name: runhcs-wcow-hypervisor
"""

RETURN = r"""
handlers:
  description: Names of the handlers in the file after the task, in its order. containerd adds its own defaults to
    them from 2.0 on.
  returned: success
  type: list
  elements: str
  sample: [runhcs-wcow-process, runhcs-wcow-hypervisor]
default_handler:
  description: The default handler that the file names.
  returned: success
  type: str
  sample: runhcs-wcow-process
pause_image:
  description: The pause image that the file names.
  returned: success
  type: str
  sample: registry.k8s.io/pause:3.10.2
path:
  description: The configuration file.
  returned: success
  type: str
  sample: C:\Program Files\containerd\config.toml
version:
  description: The containerd release that the node has.
  returned: success
  type: str
  sample: 2.3.4
node:
  description: The node.
  returned: success
  type: dict
  contains:
    name:
      description: Its computer name.
      type: str
    build:
      description: Its Windows build.
      type: str
      sample: 10.0.20348.2582
    product:
      description: Its Windows product.
      type: str
      sample: Windows Server 2022 Datacenter
steps:
  description: What was done on the node, in order (in check mode, what would be). Empty if nothing was to be done.
  returned: success
  type: list
  elements: str
  sample: ['write C:\Program Files\containerd\config.toml', restart service containerd]
restarted:
  description: Whether the service was restarted (in check mode, whether it would be).
  returned: success
  type: bool
backups:
  description: Backup files that were made.
  returned: success
  type: list
  elements: str
rolled_back:
  description: Whether the node is as it was before the task.
  returned: when a step failed on the node
  type: bool
"""
