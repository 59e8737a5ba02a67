# Copyright: the Lockstep authors
# Apache-2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: containerd_config_info
short_description: Reads containerd's configuration on a Windows node
description:
  - Returns what C(config.toml) says, what containerd makes of it (C(containerd config dump)), and the state of its
    service.
  - Changes nothing.
version_added: "0.1.0"
options:
  path:
    description: Full path of the configuration file.
    type: str
    default: C:\Program Files\containerd\config.toml
  service:
    description: The name of containerd's service.
    type: str
    default: containerd
  program:
    description: Full path of C(containerd.exe). By default it is the service's program, which nssm's is not.
    type: str
  crictl:
    description: Full path of C(crictl.exe). By default it is looked for beside C(containerd.exe).
    type: str
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
  - module: lockstep.windows.containerd_config
extends_documentation_fragment:
  - lockstep.windows.node
"""

EXAMPLES = r"""
- name: Read what containerd on this node has
  lockstep.windows.containerd_config_info:
  register: containerd_now

- name: Show the handlers that it would really run
  ansible.builtin.debug:
    var: containerd_now.effective.handlers
"""

RETURN = r"""
exists:
  description: Whether the configuration file is there.
  returned: success
  type: bool
path:
  description: The configuration file.
  returned: success
  type: str
  sample: C:\Program Files\containerd\config.toml
config_version:
  description: The file's own C(version).
  returned: when the file is there
  type: int
  sample: 3
configured:
  description: What the file says. Same keys as RV(effective).
  returned: when the file is there
  type: dict
effective:
  description: What containerd makes of the file with its defaults, from C(containerd config dump).
  returned: when containerd is there and accepts the file
  type: dict
  contains:
    default_handler:
      description: The handler of pods that name none.
      type: str
    pause_image:
      description: The pause image.
      type: str
    handlers:
      description: Handlers by name, each with C(runtime_type), C(pod_annotations), C(container_annotations),
        C(options) and so on.
      type: dict
config_dump:
  description: The text of C(containerd config dump).
  returned: when containerd is there and accepts the file
  type: str
config_error:
  description: Why containerd refuses the file, in its own words.
  returned: when it does
  type: str
loaded_handlers:
  description: Names of the handlers that the running containerd lists, from C(crictl info) at the pipe that the
    service's command line or the file names.
  returned: when containerd runs and crictl is there
  type: list
  elements: str
version:
  description: The containerd release.
  returned: when containerd is there
  type: str
  sample: 2.3.4
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
      description: V(automatic), V(manual), V(disabled) or V(other).
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
