# Copyright: the Lockstep authors
# Apache-2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: lockstep_node_info
short_description: Reads everything that matters of a Windows node at once
description:
  - Returns build and patch, features, a pending restart, versions, services, the handlers in effect, kubelet's
    arguments and configuration, certificates and when they expire, disks, memory, the store of artifacts, firewall
    rules, exclusions of Microsoft Defender, power scheme, pagefile and time, from one read.
  - Works on a bare node. What is not there is null, empty or C(exists=false), not an error.
  - As the first task of a play it also serves the modules that follow. What they will ask a node, as far as the play
    tells before its tasks come, is in the same request, and they ask again only when something was changed.
  - Changes nothing.
version_added: "0.2.0"
options:
  containerd_path:
    description: Full path of containerd's configuration file.
    type: str
    default: C:\Program Files\containerd\config.toml
  containerd_service:
    description: The name of containerd's service.
    type: str
    default: containerd
  containerd_programs:
    description: Folder in which C(containerd.exe) and C(crictl.exe) are looked for where there is no service.
    type: str
    default: C:\Program Files\containerd
  crictl:
    description: Full path of C(crictl.exe). By default it is looked for beside C(containerd.exe).
    type: str
  kubelet_path:
    description: Full path of the KubeletConfiguration file.
    type: str
    default: C:\var\lib\kubelet\config.yaml
  kubelet_service:
    description: The name of kubelet's service.
    type: str
    default: kubelet
  kube_proxy_service:
    description: The name of kube-proxy's service.
    type: str
    default: kube-proxy
  kubernetes_programs:
    description: Folder in which C(kubelet.exe) and C(kube-proxy.exe) are looked for where there is no service.
    type: str
    default: C:\k
  kubeconfig:
    description: Full path of the kubeconfig with which a node that has joined a cluster speaks to it.
    type: str
    default: C:\etc\kubernetes\kubelet.conf
  kubelet_pki:
    description: Folder of kubelet's own certificates.
    type: str
    default: C:\var\lib\kubelet\pki
  cluster_ca:
    description: Full path of the certificate of the cluster's authority.
    type: str
    default: C:\etc\kubernetes\pki\ca.crt
  store:
    description: Folder of the store of artifacts.
    type: str
    default: C:\ProgramData\lockstep\store
  features:
    description: Features to tell of, by the names that C(Get-WindowsFeature) has for them. Those that later tasks of
      the play ask for are told of too.
    type: list
    elements: str
    default: [Containers, Hyper-V, Hyper-V-PowerShell]
  firewall_rules:
    description: Names of the firewall rules to tell of. Those that later tasks of the play ask for are told of too.
    type: list
    elements: str
    default: [kubelet]
  dest:
    description: A folder on the controller to keep what was read in, as C(<inventory_hostname>.json). A node that
      cannot be read is kept there too, with the reason. Not written in check mode.
    type: path
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
notes:
  - Secrets are masked. Of a service's environment only the names of variables are told.
seealso:
  - module: lockstep.windows.containerd_config_info
  - module: lockstep.windows.kubelet_config_info
extends_documentation_fragment:
  - lockstep.windows.node
"""

EXAMPLES = r"""
- name: Read the node
  lockstep.windows.lockstep_node_info:

- name: Show what waits for a restart
  ansible.builtin.debug:
    var: ansible_facts.lockstep_node.restart_pending

- name: Keep what was read, for lockstep node show
  lockstep.windows.lockstep_node_info:
    dest: build/observed
"""

RETURN = r"""
node:
  description: The node. What could not be read at all is missing, and named in C(errors).
  returned: success
  type: dict
  contains:
    name:
      description: DNS host name.
      type: str
    windows:
      description: C(product), C(build) with its patch, C(edition) and C(installation).
      type: dict
      sample:
        product: Windows Server 2022 Datacenter
        build: 10.0.20348.2582
        edition: ServerDatacenter
        installation: Server
    machine:
      description: C(memory_bytes), C(processors), C(disks), C(hypervisor_present), C(virtualization_firmware) and
        C(winrm).
      type: dict
    restart_pending:
      description: Why Windows waits for a restart; empty where it does not.
      type: list
      elements: str
    time:
      description: The node's time, and the state, source and server of its time service.
      type: dict
      sample: {utc: "2026-01-31T12:00:00Z", service: running, source: NTP, server: "time.windows.com,0x8"}
    features:
      description: Name to state, C(installed), C(available), C(removed), C(install_pending), C(uninstall_pending) or
        C(unknown).
      type: dict
      sample: {Containers: installed, Hyper-V: available}
    long_paths:
      description: Whether paths may have more than 260 characters.
      type: bool
    pagefile:
      description: The pagefiles as configured, C(?:\\pagefile.sys) where Windows manages them.
      type: list
      elements: str
    power_scheme:
      description: GUID of the active power scheme.
      type: str
    firewall:
      description: Name to rule; null where there is none.
      type: dict
    defender:
      description: Whether Microsoft Defender is C(present), and the C(processes) and C(paths) that it leaves alone.
      type: dict
    store:
      description: C(entries) of the store, each with C(entry), C(name) and C(version), unfinished C(uploads), and
        C(free_bytes).
      type: dict
    versions:
      description: Releases of C(containerd), C(crictl), C(kubelet) and C(kube_proxy); null where there is none.
      type: dict
      sample: {containerd: 2.3.4, crictl: 1.36.0, kubelet: 1.36.1, kube_proxy: null}
    services:
      description: The services C(containerd), C(kubelet) and C(kube_proxy), each with C(name), C(exists), C(state),
        C(start_type), C(command_line), C(account), C(depends_on), C(recovery), and the names in its C(environment).
      type: dict
    containerd:
      description: The configuration file C(path), whether it C(exists), and, from C(containerd config dump), the
        C(handlers), C(default_handler) and C(pause_image) in effect or the C(error) that keeps them from being so.
        C(loaded_handlers) are those of the running containerd, from C(crictl info); null where that does not answer.
        C(interrupted) says whether an earlier run waits to be completed.
      type: dict
    kubelet:
      description: The file C(path), whether it C(exists), its C(configuration) and C(configuration_error), the C(flags)
        and C(node_labels) on the command line, C(flags_error), the C(kubeconfig), and C(interrupted).
      type: dict
    certificates:
      description: C(kubelet_client), C(kubelet_server), C(kubelet_serving) and C(cluster_ca), each with C(path),
        C(exists), and, of the certificate in the file that expires first, C(subject), C(issuer), C(not_before),
        C(not_after) and C(days_left).
      type: dict
    errors:
      description: What could not be read, in the node's words.
      type: dict
ansible_facts:
  description: The same as the fact C(lockstep_node).
  returned: success
  type: dict
"""
