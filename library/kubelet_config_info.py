# Copyright: the Lockstep authors
# Apache-2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: kubelet_config_info
short_description: Reads kubelet's configuration on a Windows node
description:
  - Returns the KubeletConfiguration, the flags of kubelet's service, and the service's state.
  - Changes nothing.
version_added: "0.1.0"
options:
  path:
    description: Full path of the KubeletConfiguration file.
    type: str
    default: C:\var\lib\kubelet\config.yaml
  service:
    description: The name of kubelet's service.
    type: str
    default: kubelet
  timeout:
    description: Seconds that each program may take to answer; 1 to 3600.
    type: int
    default: 60
attributes:
  check_mode:
    description: Reads in check mode as it does otherwise.
    support: full
  diff_mode:
    description: There is nothing to compare.
    support: none
seealso:
  - module: lockstep.windows.kubelet_config
extends_documentation_fragment:
  - lockstep.windows.node
"""

EXAMPLES = r"""
- name: Read what kubelet on this node has
  lockstep.windows.kubelet_config_info:
  register: kubelet_now

- name: Show the taints that it registers with
  ansible.builtin.debug:
    var: kubelet_now.configuration.registerWithTaints
"""

RETURN = r"""
exists:
  description: Whether the KubeletConfiguration file is there.
  returned: success
  type: bool
path:
  description: The KubeletConfiguration file.
  returned: success
  type: str
  sample: C:\var\lib\kubelet\config.yaml
configuration:
  description: The KubeletConfiguration as the file says it.
  returned: when the file is there
  type: dict
configuration_error:
  description: Why the file cannot be read.
  returned: when it cannot
  type: str
flags:
  description: The flags on the service's command line, by name without the dashes.
  returned: when the service is registered and runs kubelet
  type: dict
flags_error:
  description: Why the command line cannot be read.
  returned: when it cannot
  type: str
node_labels:
  description: Labels that kubelet registers its node with.
  returned: when the service is registered and runs kubelet
  type: dict
registered:
  description: Whether kubelet runs with a cluster, and so has registered its node.
  returned: when the service is registered and runs kubelet
  type: bool
wrapper:
  description: What starts kubelet, V(kube-log-runner), V(none) or V(nssm).
  returned: when the service is registered and runs kubelet
  type: str
version:
  description: The Kubernetes release.
  returned: when kubelet is there
  type: str
  sample: 1.36.1
service:
  description: The service, as Windows has it.
  returned: success
  type: dict
  contains:
    exists:
      description: Whether it is registered.
      type: bool
    state:
      description: V(running), V(stopped), or one in between.
      type: str
    start_type:
      description: V(automatic), V(delayed), V(manual), V(disabled) or V(other).
      type: str
    binary_path:
      description: Its command line.
      type: str
pending:
  description: Whether an earlier run was interrupted and waits to be completed.
  returned: success
  type: bool
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
"""
