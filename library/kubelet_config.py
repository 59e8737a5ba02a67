# Copyright: the Lockstep authors
# Apache-2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: kubelet_config
short_description: Makes kubelet's service on a Windows node, and configures it
description:
  - Registers kubelet as a service where there is none, alone or behind a wrapper that writes its log file. A service
    that is there is adopted; only what differs changes.
  - Merges KubeletConfiguration fields into C(config.yaml), and what exists as a flag only into the command line of
    kubelet's service. Everything that this module does not manage stays as it is, comments included.
  - Fields that the release does not know are refused with the nearest name that it does know, because kubelet itself
    would drop them without stopping.
  - The service is restarted only if something changed. If it does not come up, file and command line are put back, the
    service is restarted on them, and the task fails with kubelet's own words.
  - Once the service runs, kubelet is asked for its health, where Windows has C(curl.exe) (from 1803 on).
  - A node without a kubeconfig, and with nothing to join with, gets a kubelet that runs standalone and lets nobody in.
    The next run after it has joined gives it what a cluster needs.
  - Flags that kubeadm left in C(kubeadm-flags.env) are taken onto the command line. A Windows service has its flags
    there alone, so run this module again after C(kubeadm join).
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
        kubelet has to come up on what is left, or the task fails and everything stays. The service stays too.
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
        C(cert-dir). One that has a field is refused, because it would override the file, and so is one that has an
        option of its own here.
      - A flag with a null value is taken away.
    type: dict
    default: {}
  path:
    description: Full path of the KubeletConfiguration file. The service must load this file.
    type: str
    default: C:\var\lib\kubelet\config.yaml
  service:
    description:
      - The name of kubelet's service. If another program's service has it, nothing is done.
      - Graceful shutdown works in a service called V(kubelet) only.
    type: str
    default: kubelet
  wrapper:
    description:
      - What starts kubelet as a service.
      - V(kube-log-runner) is part of Kubernetes. It writes what kubelet logs into a file, and rotates it from 1.34 on.
      - V(none) starts kubelet itself, which then logs nowhere.
      - V(nssm) rotates the file with any release, but kubelet is then no service of its own, so that graceful shutdown
        (C(shutdownGracePeriod)) does not work and is refused.
      - V(auto) is what the service has, and V(kube-log-runner) for one that is new.
      - All of them have kubelet's flags in the service's own definition. A service whose wrapper starts a script is
        refused, because its flags are elsewhere.
    type: str
    choices: [auto, kube-log-runner, none, nssm]
    default: auto
  program:
    description:
      - Full path of C(kubelet.exe) for a service that is new. C(kube-log-runner.exe) and C(nssm.exe) are beside it.
      - A service that is there keeps its program.
    type: str
    default: C:\k\kubelet.exe
  start_type:
    description:
      - How the service starts with Windows; V(delayed) is automatic, some time after the boot.
      - V(auto) is V(automatic) for a service that is new, and as it is otherwise.
    type: str
    choices: [auto, automatic, delayed]
    default: auto
  depends_on:
    description: Services that have to run first. One that the service depends on already stays.
    type: list
    elements: str
    default: [containerd]
  log_file:
    description:
      - Full path of the log file that the wrapper writes.
      - If not given, C(C:\var\log\kubelet\kubelet.log) for a wrapper that is new, and as it is otherwise.
    type: str
  log_max_size:
    description:
      - The size at which another log file is begun. V(kube-log-runner) can do so from 1.34 on.
      - If not given, V(100Mi) for a wrapper that is new and can do it, and as it is otherwise.
    type: str
  log_max_age:
    description:
      - The age at which V(kube-log-runner) removes an old log file, from 1.34 on, such as V(168h).
      - V(nssm) removes none.
      - If not given, V(168h) for a wrapper that is new and can do it, and as it is otherwise.
    type: str
  kubeconfig:
    description:
      - Full path of the kubeconfig that kubelet works with, which it or kubeadm writes when the node joins. A service
        that names another one keeps it.
      - Beside it are C(bootstrap-kubelet.conf) and C(pki\ca.crt).
    type: str
    default: C:\etc\kubernetes\kubelet.conf
  bootstrap_kubeconfig:
    description:
      - The kubeconfig to join with, as text. It is a secret, and shown nowhere.
      - It is written to C(bootstrap-kubelet.conf) as long as O(kubeconfig) is not there. The file stays then; kubelet
        does not read it while its own certificate is valid, and would join with it again once that has expired.
    type: str
    no_log: true
  client_ca:
    description:
      - The certificates (PEM, as text) by which kubelet trusts who asks it for logs and the like, mostly that of the
        cluster's CA.
      - They are written as long as O(kubeconfig) is not there, or they are not, and named in C(clientCAFile), unless
        the file on the node names another.
    type: str
  hostname_override:
    description:
      - The name of the Node object. If not given, the flag stays as it is; without one it is the host name in lower
        case.
      - A node that is registered is another node under another name.
    type: str
  node_ip:
    description:
      - The node's IP address, or two with a comma in between, IPv4 and IPv6.
      - The flag stays as it is if not given.
    type: str
  priority_class:
    description:
      - The priority of kubelet's process, such as V(ABOVE_NORMAL_PRIORITY_CLASS).
      - If not given, that one for a service that is new, and as it is otherwise.
    type: str
  reserved:
    description:
      - What is kept from pods by the size of the machine, as C(kubeReserved).
      - V(auto) is AKS's formula for Windows nodes. V(none) leaves the field alone. A mapping is merged into the field.
      - C(kubeReserved) in O(configuration) counts instead.
    type: raw
    default: "none"
  drop_ins:
    description:
      - Files of KubeletConfiguration fields for the folder O(config_dir), by name. Names end in C(.conf); they are read
        in the order of their names, after O(path), and lists are replaced. From 1.30 on.
      - Fields are merged into a file that is there; a file that is not named stays. C(config-dir) as null in O(flags)
        takes the folder away from kubelet.
    type: dict
    default: {}
  config_dir:
    description:
      - Full path of the folder of drop-ins, which is made if it is not there.
      - If not given, C(config.d) beside O(path) where O(drop_ins) has any; otherwise the flag stays as it is.
    type: str
  credential_providers:
    description:
      - Programs that kubelet asks for the credentials of registries, as C(CredentialProviderConfig) has them. Values of
        environment variables are shown nowhere.
      - The file is C(credential-providers.yaml) beside O(kubeconfig). It has these providers and no other.
      - With none of them nothing changes. The flags C(image-credential-provider-config) and
        C(image-credential-provider-bin-dir) as null in O(flags) take them away from kubelet.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the program in O(credential_provider_dir), without C(.exe).
        type: str
        required: true
      matchImages:
        description: Images that it has credentials for, such as C(*.azurecr.io).
        type: list
        elements: str
        required: true
      defaultCacheDuration:
        description: How long kubelet keeps credentials whose provider says nothing of that, such as V(12h).
        type: str
        required: true
      apiVersion:
        description: Version of the requests that it understands. If not given, the newest that the release has.
        type: str
      args:
        description: Its arguments.
        type: list
        elements: str
      env:
        description: Variables of its environment, each a mapping of C(name) and C(value).
        type: list
        elements: dict
        suboptions:
          name:
            description: Name of the variable.
            type: str
            required: true
          value:
            description: Its value.
            type: str
            required: true
      tokenAttributes:
        description: Which service account tokens it gets, from 1.33 on.
        type: dict
  credential_provider_dir:
    description:
      - Full path of the folder that has the providers' programs. M(lockstep.windows.node_artifacts) brings them there.
    type: str
    default: C:\k\credential-providers
  backup:
    description: Whether the former file is kept beside the new one as C(config.yaml.<UTC time>.bak).
    type: bool
    default: false
  timeout:
    description: Seconds that the service may take to stop, and to come up; 1 to 3600.
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
seealso:
  - module: lockstep.windows.kubelet_config_info
  - module: lockstep.windows.containerd_config
extends_documentation_fragment:
  - lockstep.windows.node
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

- name: Make the service on a node that has kubelet.exe, and join
  lockstep.windows.kubelet_config:
    version: 1.36.1
    reserved: auto
    bootstrap_kubeconfig: "{{ vault_bootstrap_kubeconfig | default(omit) }}"
    client_ca: "{{ cluster_ca | default(omit) }}"

- name: Put kube-log-runner in front of a kubelet that logs nowhere
  lockstep.windows.kubelet_config:
    version: 1.36.1
    wrapper: kube-log-runner
    log_max_size: 50Mi

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
    priority_class: ABOVE_NORMAL_PRIORITY_CLASS
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
  description: Kubelet's own command line after the task, without what starts it.
  returned: success
  type: str
wrapper:
  description: What starts kubelet after the task, V(kube-log-runner), V(none) or V(nssm).
  returned: success
  type: str
joined:
  description: Whether kubelet works with a cluster after the task, or standalone.
  returned: success
  type: bool
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
    - Whether kubelet ran with a cluster before the task, and so has registered its node. Labels and taints that change
      now have to be set through the API; a warning names the commands.
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
