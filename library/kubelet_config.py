# Copyright: the Lockstep authors
# Apache-2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: kubelet_config
short_description: Configures kubelet on a Windows node
description:
  - Merges KubeletConfiguration fields into C(config.yaml), and what exists as a flag only into the command line of
    kubelet's service. Everything that this module does not manage stays as it is, comments included.
  - Fields that the release does not know are refused with the nearest name that it does know, because kubelet itself
    would drop them without stopping.
  - The service is restarted only if something changed. If it does not come up, file and command line are put back, the
    service is restarted on them, and the task fails with kubelet's own words.
  - A run that was interrupted, at whatever point, is completed by the next one.
version_added: "0.1.0"
options:
  version:
    description:
      - The Kubernetes release of the node's kubelet, for example V(1.36.1). It decides which fields and flags exist.
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
      - V(present) puts what the other options say into file and command line.
      - V(absent) takes the fields, labels and flags that are named here out of them; values do not matter then.
        kubelet has to come up on what is left, or the task fails and everything stays.
    type: str
    choices: [present, absent]
    default: present
  configuration:
    description:
      - Fields of KubeletConfiguration. A mapping is merged field by field, a list is replaced as a whole. A field that
        is null is taken away.
      - A field that was given earlier and is not any more stays, because nothing tells it from a person's own. Give it
        as null once, or use O(state=absent).
    type: dict
    default: {}
  node_labels:
    description:
      - Labels that kubelet gives its node, merged into the flag C(--node-labels). Values are text; what YAML reads as
        something else has to be quoted.
      - The task owns the labels that it is given; all others stay, but see O(prune_node_labels).
      - kubelet sets them when it registers its node for the first time, and not later. If they change on a node that is
        registered already, the task warns that they have to be set through the API.
    type: dict
    default: {}
  prune_node_labels:
    description:
      - Whether labels of the domain C(lockstep.windows) that are not in O(node_labels) are taken away. These are the
        labels that lockstep itself plans for a pool and its classes.
      - The role does so, because it gives all labels of the plan. A task that adds labels of its own must not.
    type: bool
    default: false
  flags:
    description:
      - Flags that have no field in KubeletConfiguration, by name without the dashes, for example
        C(windows-priorityclass). One that has a field is refused, because it would override the file.
      - A flag with a null value is taken away.
    type: dict
    default: {}
  path:
    description: Full path of the KubeletConfiguration file. The service must load this file.
    type: str
    default: C:\var\lib\kubelet\config.yaml
  service:
    description: The name of kubelet's service.
    type: str
    default: kubelet
  backup:
    description: Whether the former file is kept beside the new one as C(config.yaml.<UTC time>.bak).
    type: bool
    default: false
  timeout:
    description: Seconds that the service may take to come up; 1 to 3600.
    type: int
    default: 120
attributes:
  check_mode:
    description: Says what would change, without changing anything.
    support: full
  diff_mode:
    description: Shows file and command line before and after. The diff in check mode is byte for byte what a run then
      does.
    support: full
requirements:
  - lockstep-windows, in the Python that runs Ansible
notes:
  - Works over the connections P(ansible.builtin.winrm#connection) and P(ansible.builtin.psrp#connection). The node
    needs no Python.
  - C(become) is not supported, and refused. Connect as an administrator.
seealso:
  - module: lockstep.windows.kubelet_config_info
  - module: lockstep.windows.containerd_config
author:
  - The Lockstep authors
"""

EXAMPLES = r"""
- name: Give kubelet what the node's pool needs
  lockstep.windows.kubelet_config:
    version: "{{ pool.kubelet.version }}"
    host: "{{ pool.host }}"
    configuration: "{{ pool.kubelet.configuration }}"
    node_labels: "{{ pool.kubelet.node_labels }}"
    prune_node_labels: true
  vars:
    pool: "{{ lockstep_fleet | lockstep.windows.lockstep_pool(group_names) }}"

- name: Add a label of your own
  lockstep.windows.kubelet_config:
    version: 1.36.1
    node_labels:
      example.com/rack: "7"

- name: Reserve memory for Windows itself, and raise kubelet's priority
  lockstep.windows.kubelet_config:
    version: 1.36.1
    configuration:
      systemReserved:
        memory: 2Gi
    flags:
      windows-priorityclass: ABOVE_NORMAL_PRIORITY_CLASS
    backup: true

- name: Let kubelet have the priority of any other process again
  lockstep.windows.kubelet_config:
    version: 1.36.1
    state: absent
    flags:
      windows-priorityclass:
"""

RETURN = r"""
path:
  description: The KubeletConfiguration file.
  returned: success
  type: str
  sample: C:\var\lib\kubelet\config.yaml
command_line:
  description: The service's command line after the task.
  returned: success
  type: str
version:
  description: The release of the node's kubelet.
  returned: success
  type: str
  sample: 1.36.1
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
registered:
  description:
    - Whether kubelet ran before the task, and so has registered its node. Labels and taints that change now have to be
      set through the API; a warning names the commands.
  returned: success
  type: bool
steps:
  description: What was done on the node, in order (in check mode, what would be). Empty if nothing was to be done.
  returned: success
  type: list
  elements: str
  sample: ['write C:\var\lib\kubelet\config.yaml', restart service kubelet]
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
