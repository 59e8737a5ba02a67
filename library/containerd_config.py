# Copyright: the Lockstep authors
# Apache-2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: containerd_config
short_description: Configures containerd on a Windows node
description:
  - Merges handlers, the default handler, the pause image and more into C(config.toml), whatever is in it already;
    registers the service that runs containerd; and writes a C(hosts.toml) for each registry.
  - Everything that this module does not manage stays as it is, comments, order and line endings included. Only a byte
    order mark goes where containerd would stop at it, from 2.0 on; the task warns of that.
  - The service is restarted only if the file, its command line or its environment changed. C(containerd.exe) has to
    accept the new file before the service is touched, and the task succeeds only if the service then comes up and lists
    every handler. Otherwise files and service are put back, the service runs on them again, and the task fails with
    the node's own words. Files of registries alone are read at the next pull, without a restart.
  - What containerd has in effect (C(containerd config dump)) is compared with what is planned, since a file that
    C(config.toml) imports may say otherwise; see O(overrides).
  - Files of version 2, 3 and 4 are read and edited in place. A new file has version 2 for containerd 1.x and 3 for 2.x.
  - A file of a version that O(version) is too old for, after going back to an older containerd, is rewritten in one
    that it reads, without its comments; the former file is kept as a backup, and the task warns of it. The task fails,
    naming them, where the file has settings that the older version has no place for.
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
        if the file still has the ones that are named here, and so with the other settings. Files of registries that
        an earlier run wrote go. Keys that somebody else added to such a handler stay, and so does the service.
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
  snapshotters:
    description:
      - Snapshotters by handler, for handlers that are to have another one than containerd's own. Each handler is one of
        O(handlers).
      - Exists from containerd 1.7 on. V(cimfs) exists from 2.0 on; V(blockcim) from 2.2 on, and is refused for handlers
        with Hyper-V isolation. A file of version 2 cannot say it to containerd 2.x.
    type: dict
    default: {}
  shim_log_level:
    description:
      - What the shims of O(handlers) log, as their option C(LogLevel), unless a handler states its own.
      - V(keep) leaves it as it is; what was changed once goes back with V(info).
    type: str
    choices: [keep, trace, debug, info, warn, error, fatal, panic]
    default: keep
  log_level:
    description:
      - What containerd logs. A flag C(--log-level) of the service counts before the file, so with O(manage_service) a
        flag that is there gets the same value.
      - V(keep) leaves it as it is; what was changed once goes back with V(info).
    type: str
    choices: [keep, trace, debug, info, warn, error, fatal, panic]
    default: keep
  metrics_address:
    description:
      - Where containerd serves metrics for Prometheus, for example V(127.0.0.1:1338). It asks nobody for a password.
      - Empty takes the setting away. Left as it is if not given.
    type: str
  imports:
    description:
      - Files, or patterns of them, that containerd reads after C(config.toml). An empty list is none at all.
      - Left as it is if not given. A file without C(imports) imports nothing, whatever C(containerd config dump) shows.
      - With containerd 1.x an imported file that speaks of the CRI plugin replaces all that C(config.toml) says of it;
        with 2.0 to 2.2 it needs the same C(version), and with 2.3.0 to 2.3.4 no newer one.
    type: list
    elements: str
  overrides:
    description:
      - What happens where containerd has in effect something else than is planned, because an imported file says so.
    type: str
    choices: [fail, warn]
    default: fail
  registries:
    description:
      - Registries, with the hosts that containerd asks before them. Each gets a C(hosts.toml) in a folder of its own
        below O(registry_path), which C(config.toml) then names. An empty list is none, and with O(prune_registries)
        takes away what an earlier run wrote.
      - What O(registry_path) holds is left alone if not given.
      - containerd passes over a C(hosts.toml) that it cannot read, and pulls from the registry itself. So everything
        here is checked for the release.
      - C(registry.mirrors) in C(config.toml), and with containerd 1.x C(tls) in its C(registry.configs), cannot stand
        beside this; the task fails if they are there.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - What images have in front, V(docker.io) or V(registry.example:5000), or V(_default) for every registry that
            has no folder of its own.
        type: str
        required: true
      server:
        description:
          - The URL of the registry itself, asked after all hosts. By default it is what the name says. The URL of a
            mirror here keeps containerd from asking the registry itself.
        type: str
      hosts:
        description: Hosts that are asked before the registry, in this order.
        type: list
        elements: dict
        default: []
        suboptions:
          url:
            description: The host's URL, V(https://mirror.example). C(/v2) is added to its path.
            type: str
            required: true
          capabilities: &capabilities
            description:
              - What it is asked for, V(pull), V(resolve) (the digest of a tag), V(push) and from 2.2 on V(referrers).
                All if not given.
            type: list
            elements: str
            default: []
          ca: &ca
            description:
              - Certificates of authorities, each as PEM text, which is written beside C(hosts.toml), or as the full
                path of a file on the node.
              - With containerd up to 2.2 they take the place of the ones that Windows trusts, from 2.3 on they add to
                them.
            type: list
            elements: str
            default: []
          client: &client
            description: Certificates by which containerd says who it is.
            type: list
            elements: dict
            default: []
            no_log: true
            suboptions:
              certificate:
                description: PEM text, or the full path of a file on the node.
                type: str
                required: true
              key:
                description: Its key, likewise. Needed unless the certificate's text or file has it too.
                type: str
                no_log: true
          skip_verify: &skip_verify
            description: Whether its certificate is taken unchecked.
            type: bool
          override_path: &override_path
            description: Whether its URL is the whole path, to which C(/v2) is not added.
            type: bool
          headers: &headers
            description:
              - Headers of every request, each with a text or a list of texts, for example C(Authorization). They are
                masked wherever a task shows them.
            type: dict
            default: {}
            no_log: true
          dial_timeout: &dial_timeout
            description: How long a connection may take, V(5s) or V(500ms). Exists from containerd 2.0.7 on.
            type: str
      capabilities: *capabilities
      ca: *ca
      client: *client
      skip_verify: *skip_verify
      override_path: *override_path
      headers: *headers
      dial_timeout: *dial_timeout
  registry_path:
    description:
      - Full path of the folder for O(registries).
    type: str
    default: C:\ProgramData\containerd\certs.d
  registry_access:
    description:
      - Who may use O(registry_path) where there are O(registries), an access list in SDDL. By default LocalSystem, as
        which containerd runs, and administrators. Empty leaves it as it is.
    type: str
    default: D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)
  prune_registries:
    description:
      - Whether files go that an earlier run wrote for registries which are not in O(registries) any more. A file that
        somebody has changed since stays, with a warning.
    type: bool
    default: false
  manage_service:
    description:
      - Whether the task registers the service, or changes in the one that is there what differs from the options below.
        Other flags on its command line stay.
      - Otherwise the service has to be there. In check mode on a node without C(containerd.exe), or with another
        release of it, the task then fails; with V(true) it warns, since an earlier role may install it.
    type: bool
    default: false
  program:
    description: With O(manage_service), the full path of C(containerd.exe).
    type: str
    default: C:\Program Files\containerd\containerd.exe
  log_file:
    description:
      - With O(manage_service), the full path of containerd's log file. Its folder is made.
      - containerd only ever appends to it. Choose O(wrapper=nssm) for a new file whenever it has O(log_max_size).
      - If not given, C(C:\var\log\containerd\containerd.log) for a service that is new, and as it is otherwise.
    type: str
  wrapper:
    description:
      - With O(manage_service), what starts containerd. V(none) makes containerd a service of its own, as
        C(containerd.exe --register-service) does. V(nssm) starts it as an ordinary program, whose output it rotates.
        V(auto) is what the service has, and V(none) for one that is new.
      - kube-log-runner cannot start containerd, which from 1.7 on takes itself for a service only if Windows' service
        manager started it.
    type: str
    choices: [auto, none, nssm]
    default: auto
  nssm:
    description: The full path of C(nssm.exe), for O(wrapper=nssm).
    type: str
    default: C:\k\nssm.exe
  log_max_size:
    description:
      - With O(wrapper=nssm), the size at which a new log file is begun, for example V(50Mi). Former ones get the time
        into their name; nobody removes them.
      - If not given, V(100Mi) for a service that nssm did not start before, and as it is otherwise.
    type: str
  display_name:
    description:
      - With O(manage_service), the service's name for people.
      - If not given, V(Containerd) for a service that is new, and as it is otherwise.
    type: str
  description:
    description:
      - With O(manage_service), the service's description.
      - If not given, V(Container runtime) for a service that is new, and as it is otherwise.
    type: str
  start_type:
    description:
      - With O(manage_service), how the service starts; V(delayed) is automatic, some time after the boot.
      - V(auto) is V(automatic) for a service that is new, and as it is otherwise.
    type: str
    choices: [auto, automatic, delayed, manual]
    default: auto
  depends_on:
    description: With O(manage_service), all services that it needs. Left as they are if not given.
    type: list
    elements: str
  environment:
    description:
      - With O(manage_service), variables of containerd's process, for example C(HTTPS_PROXY); others stay. A null takes
        one away. Values are masked wherever a task shows them; that one changes is seen.
    type: dict
    default: {}
    no_log: true
  recovery:
    description:
      - With O(manage_service), what Windows does when containerd fails.
      - If not given, for a service that is new, it starts it again after 15 seconds, and after a minute from the third
        failure of a day on; it is as it is otherwise.
    type: dict
    suboptions:
      actions:
        description: What it does the first, second and every later time.
        type: list
        elements: dict
        default: []
        suboptions:
          action:
            description: What it does.
            type: str
            choices: [none, restart, reboot]
            required: true
          delay:
            description: Seconds after which it does that.
            type: int
            default: 0
      reset:
        description: Seconds without a failure after which the next one is the first again.
        type: int
        default: 86400
      on_non_crash:
        description: Whether an end with an error code counts as a failure too.
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
seealso:
  - module: lockstep.windows.containerd_config_info
  - module: lockstep.windows.kubelet_config
extends_documentation_fragment:
  - lockstep.windows.node
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

- name: Make containerd a service, with a mirror of Docker Hub
  lockstep.windows.containerd_config:
    version: 2.3.4
    manage_service: true
    log_file: C:\var\log\containerd\containerd.log
    recovery:
      actions:
        - {action: restart, delay: 15}
        - {action: restart, delay: 15}
        - {action: restart, delay: 60}
    registries:
      - name: docker.io
        hosts:
          - url: https://mirror.example
            capabilities: [pull, resolve]
            headers:
              Authorization: "Basic {{ mirror_credentials | b64encode }}"
    prune_registries: true
  vars:
    mirror_credentials: "{{ lookup('ansible.builtin.env', 'MIRROR_CREDENTIALS') }}"

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
  sample: ['write C:\Program Files\containerd\config.toml', register service containerd, start service containerd]
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
