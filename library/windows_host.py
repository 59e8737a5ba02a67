# Copyright: the Lockstep authors
# Apache-2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: windows_host
short_description: Prepares Windows Server to be a Kubernetes node
description:
  - Installs the Windows features that containers need, restarts Windows where it waits for that, and sets what a node
    needs of Windows itself - pagefile, long paths, folders that keep credentials from ordinary users, the machine's
    PATH, firewall, Defender, power scheme, time service, DNS suffixes and values of the registry.
  - Looks at the node first. What speaks against it, such as another build, too little memory or no virtualization, is
    told all at once, and nothing is touched then.
  - What is there already stays. All changes but features are taken back if one of them fails.
  - A run that was interrupted, at whatever point, is completed by the next one.
version_added: "0.2.0"
options:
  host:
    description:
      - The Windows build that the node must have, as the description of the fleet says it, V(ltsc2022), V(20348) or
        V(10.0.20348). The revision does not matter. Any build will do if not given.
    type: str
  node_name:
    description: The name that kubelet is told to give its Node. Empty for the host's own.
    type: str
    default: ""
  features:
    description: Windows features that have to be installed, as C(Get-WindowsFeature) names them.
    type: list
    elements: str
    default: [Containers]
  feature_source:
    description:
      - Folder or share with the files of features that were removed from the node, such as C(sources\sxs) of the medium
        of the node's build. Windows asks Windows Update for them if this is empty.
      - Windows reads a share with the account of the computer, not with yours.
    type: str
    default: ""
  min_memory_mb:
    description: Refuse a machine with less memory; a few percent less are accepted, because firmware keeps some.
    type: int
    default: 4096
  min_processors:
    description: Refuse a machine with fewer logical processors.
    type: int
    default: 2
  min_free_disk_gb:
    description:
      - Refuse a machine with less free space on drive C. On a node that has the feature Containers already it is a
        warning, because images have used the space.
    type: int
    default: 20
  accept:
    description:
      - Checks whose refusal is a warning only, for a node of which you know better. The name of a check stands in
        square brackets behind what it found.
    type: list
    elements: str
    choices: [build, edition, memory, processors, disk, virtualization, winrm, name, clock, features]
    default: []
  reboot:
    description:
      - What to do where Windows waits for a restart, because of the features or the pagefile.
      - V(auto) restarts Windows, waits until it is back, and makes sure that everything works. Where kubelet runs it
        fails instead, once everything else is done, because a restart would end the node's pods.
      - V(always) restarts Windows even where kubelet runs. Drain the node first.
      - V(report) changes everything, restarts nothing and says so; RV(restart_needed) is true then. Nothing that needs
        the features works until somebody has restarted the node, so the role ends the play for this host.
      - V(never) fails where a restart is needed. What was changed stays, and the run after the restart goes on from
        there.
      - Check mode fails where the real run would. With V(report) it goes on, and warns that the real run ends there.
    type: str
    choices: [auto, always, report, never]
    default: auto
  kubelet_service:
    description: The name of kubelet's service, which tells whether pods may run on the node.
    type: str
    default: kubelet
  reboot_timeout:
    description: Seconds that Windows may take to be back; 1 to 3600.
    type: int
    default: 900
  long_paths:
    description: Whether programs may use paths of more than 260 characters. False leaves it as it is.
    type: bool
    default: true
  pagefile:
    description:
      - Whether a node without a pagefile gets one that Windows manages. One that is there stays as it is. False leaves
        a node without.
    type: bool
    default: true
  power_scheme:
    description:
      - The power scheme to be active, V(high_performance), V(balanced) or the GUID of another. Empty leaves it as it
        is.
    type: str
    default: high_performance
  time_service:
    description:
      - Whether the service W32Time starts by itself; it is started when that is changed, or its servers. False leaves
        it as it is.
      - Where the machine is in no domain, Windows' own trigger stops the service after each boot. That is left so;
        C(sc.exe triggerinfo W32Time delete) on the node ends it.
    type: bool
    default: true
  time_servers:
    description:
      - NTP servers that the service asks, if O(time_service). Empty leaves its source as it is, which is right for a
        host in a domain and for clouds that give the time to their machines.
    type: list
    elements: str
    default: []
  dns_suffixes:
    description:
      - Suffixes that Windows tries for names without a dot, in this order. An empty list takes them away; what is not
        given at all leaves them as they are.
    type: list
    elements: str
  folders:
    description: Folders that have to be there.
    type: list
    elements: dict
    suboptions:
      path:
        description: Full path.
        type: str
        required: true
      access:
        description:
          - Who may use it. V(administrators) is SYSTEM and administrators alone, V(users_read) lets users read and run
            what is there besides, V(inherited) leaves the folder's own access list alone. Anything else is an access
            list in SDDL, such as V(D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA\)).
        type: str
        default: inherited
    default:
      - {path: 'C:\k', access: users_read}
      - {path: 'C:\etc\kubernetes', access: administrators}
      - {path: 'C:\etc\kubernetes\pki', access: administrators}
      - {path: 'C:\etc\kubernetes\manifests', access: administrators}
      - {path: 'C:\var\lib\kubelet', access: inherited}
      - {path: 'C:\var\lib\kubelet\pki', access: administrators}
      - {path: 'C:\var\log\kubelet', access: administrators}
      - {path: 'C:\var\log\containerd', access: administrators}
      - {path: 'C:\ProgramData\containerd\certs.d', access: administrators}
  path_entries:
    description: Folders that have to be on the machine's PATH. What is missing is added at its end.
    type: list
    elements: str
    default: ['C:\k', 'C:\Program Files\containerd']
  defender_processes:
    description:
      - Full paths of programs whose files Microsoft Defender does not scan while they use them. They are added to those
        that are there. Nothing is done where there is no Defender.
    type: list
    elements: str
    default:
      - C:\Program Files\containerd\containerd.exe
      - C:\Program Files\containerd\containerd-shim-runhcs-v1.exe
      - C:\Program Files\containerd\ctr.exe
      - C:\Program Files\containerd\crictl.exe
      - C:\k\kubelet.exe
      - C:\k\kube-proxy.exe
  defender_paths:
    description: Files and folders that Microsoft Defender does not scan, added to those that are there.
    type: list
    elements: str
    default: []
  firewall_rules:
    description:
      - Rules of Windows' firewall, for all profiles. A rule that somebody narrowed, to addresses for example, stays
        narrowed as long as everything that is said here is so.
    type: list
    elements: dict
    suboptions:
      name:
        description: The rule's name, by which it is found.
        type: str
        required: true
      display_name:
        description: The name that people see; O(firewall_rules[].name) if not given.
        type: str
      protocol:
        description: The protocol.
        type: str
        choices: [tcp, udp, any]
        default: tcp
      ports:
        description: Local ports and ranges, V(10250), V(30000-32767). Empty for any.
        type: list
        elements: str
        default: []
      direction:
        description: The direction.
        type: str
        choices: [inbound, outbound]
        default: inbound
      action:
        description: What becomes of the packets.
        type: str
        choices: [allow, block]
        default: allow
      state:
        description: Whether the rule is there or not.
        type: str
        choices: [present, absent]
        default: present
    default:
      - {name: kubelet, display_name: 'kubelet (TCP 10250)', protocol: tcp, ports: ['10250']}
  registry:
    description: Values of the registry below HKEY_LOCAL_MACHINE.
    type: list
    elements: dict
    suboptions:
      key:
        description: The key, V(HKLM\\SYSTEM\\CurrentControlSet\\…).
        type: str
        required: true
      name:
        description: The value's name.
        type: str
        required: true
      kind:
        description: Its type.
        type: str
        choices: [string, expand_string, multi_string, dword, qword, binary]
        default: dword
      value:
        description: The value, for multi_string a list, for binary in base64.
        type: raw
      state:
        description: Whether the value is there or not.
        type: str
        choices: [present, absent]
        default: present
    default:
      - key: HKLM\SYSTEM\CurrentControlSet\Services\hns\State
        name: EnableCompartmentNamespace
        kind: dword
        value: 1
attributes:
  check_mode:
    description: Says what would change, without changing anything. Works on a node that has nothing yet.
    support: full
  diff_mode:
    description: Shows each aspect that would change, before and after.
    support: full
seealso:
  - module: lockstep.windows.containerd_config
  - module: lockstep.windows.kubelet_config
extends_documentation_fragment:
  - lockstep.windows.node
"""

EXAMPLES = r"""
- name: Prepare Windows for the classes of its pool
  lockstep.windows.windows_host:
    host: "{{ pool.host }}"
    features: "{{ pool.windows.features }}"
    min_memory_mb: "{{ [4096, pool.windows.memory_mb] | max }}"
    min_processors: "{{ [2, pool.windows.processors] | max }}"
  vars:
    pool: "{{ lockstep_fleet | lockstep.windows.lockstep_pool(group_names) }}"

- name: Prepare everything, and leave the restart to the maintenance window
  lockstep.windows.windows_host:
    reboot: report
  register: prepared

- name: Open what an overlay network needs besides
  lockstep.windows.windows_host:
    firewall_rules:
      - {name: kubelet, display_name: 'kubelet (TCP 10250)', ports: ['10250']}
      - {name: vxlan, display_name: 'VXLAN (UDP 4789)', protocol: udp, ports: ['4789']}
"""

RETURN = r"""
msg:
  description: That Windows would be restarted, and why.
  returned: in check mode, where it would be
  type: str
  sample: Windows would be restarted, because of feature Containers
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
features:
  description: The states of the features after the task (in check mode, before it).
  returned: success
  type: dict
  sample: {Containers: installed}
steps:
  description: What was done on the node, in order (in check mode, what would be). Empty if nothing was to be done.
  returned: success
  type: list
  elements: str
  sample: [make folder C:\k, 'install feature Containers', restart Windows]
restart_needed:
  description: Whether Windows waits for a restart after the task (in check mode, whether it would need one).
  returned: success
  type: bool
restart_reasons:
  description: What works after a restart only.
  returned: success
  type: list
  elements: str
  sample: [feature Containers]
restarted:
  description: Whether Windows was restarted.
  returned: success
  type: bool
rolled_back:
  description: Whether the node is as it was before the task.
  returned: when a step failed on the node
  type: bool
"""
