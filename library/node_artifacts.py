# Copyright: the Lockstep authors
# Apache-2.0 (see LICENSE)

from __future__ import annotations

DOCUMENTATION = r"""
---
module: node_artifacts
short_description: Puts containerd, kubelet and what goes with them on a Windows node
description:
  - Brings a node to the releases that are asked for, by version and SHA-256. Each download is checked before anything
    is done with it, unpacked into a store of its own, and only then put in place.
  - A service that runs a file which changes is stopped for the swap and started again, with the services that depend
    on it. If it does not come up, the former files are put back, the service is started on them, and the task fails
    with the reason.
  - Earlier releases stay in the store, so that going back to one is to ask for it, without a download.
  - The SHA-256 is the user's, or comes from what the release itself publishes. Lockstep has none of its own.
  - A run that was interrupted, at whatever point, is completed by the next one.
version_added: "0.1.0"
options:
  artifacts:
    description:
      - What the node is to have. V(containerd), V(cni-plugins), V(crictl), V(kubelet), V(kubeadm), V(kube-proxy),
        V(kube-log-runner) and V(nssm) are known by name; everything about them but the version has a default. Any other
        name needs O(artifacts[].url), O(artifacts[].path) or O(artifacts[].src), and O(artifacts[].into).
      - An artifact that is not asked for any more stays where it is.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: The artifact. Small letters, digits and hyphens.
        type: str
        required: true
      version:
        description:
          - Its release, for example V(2.3.4).
          - V(kubeadm), V(kube-proxy) and V(kube-log-runner) follow V(kubelet) of the same task, and V(crictl) has
            the first release of kubelet's minor, if not given; V(cni-plugins) and V(nssm) have the catalogue's.
        type: str
      sha256:
        description:
          - SHA-256 of the download, an archive where it is one. See O(pinned) and O(checksums) for where it comes
            from if not given.
        type: str
      sha256_url:
        description:
          - Where the SHA-256 is published, over https, as 64 hex digits or as lines of them with files' names. The
            controller fetches it.
        type: str
      url:
        description: Where the node gets it from, instead of the release's own address. O(mirror) does not change it.
        type: str
      path:
        description:
          - A file that the node can read, a share's V(\\\\server\\share\\file) for example. Over WinRM, NTLM and
            Kerberos without delegation pass no credentials on to a share.
        type: str
      src:
        description:
          - A file of the controller that is sent to the node, looked for as M(ansible.builtin.copy) does. What arrived
            is not sent again if the connection breaks.
        type: str
      headers:
        description: Header fields of the request, for example a token. They are shown nowhere.
        type: dict
      proxy:
        description: The proxy by which the node reaches the URL, for example V(http://proxy.example:3128).
        type: str
      into:
        description: The folder of its files on the node.
        type: str
      format:
        description: What the download is. Told by the end of its name if not given.
        type: str
        choices: [file, zip, tar.gz]
      files:
        description:
          - The files to take, by their path in the archive, each with its name on the node. For
            O(artifacts[].format=file) one, whose path is not read.
        type: dict
      services:
        description:
          - The services that run it, V(containerd), V(kubelet) or V(kube-proxy), which are restarted when it
            changes. What the catalogue knows if not given.
        type: list
        elements: str
  mirror:
    description:
      - An address that stands for scheme and host of the releases' own, for example V(https://mirror.example/windows).
        Below it everything has the path that it has at its project,
        C(containerd/containerd/releases/download/v2.3.4/containerd-2.3.4-windows-amd64.tar.gz) or
        C(v1.36.1/bin/windows/amd64/kubelet.exe); published checksums stand beside, in C(.sha256sum) or C(.sha256).
    type: str
  proxy:
    description: The proxy of every download that names none itself, for example V(http://proxy.example:3128).
    type: str
  pinned:
    description:
      - SHA-256 by name and version, for artifacts that give none themselves. C(lockstep artifacts) writes it.
    type: dict
    default: {}
  checksums:
    description:
      - V(published) takes the SHA-256 that neither the artifact nor O(pinned) has from what the release publishes. The
        controller fetches it over https, once in a run; not where everything of the release is in place already.
      - V(pinned) refuses an artifact without one.
    type: str
    choices: [published, pinned]
    default: published
  services:
    description:
      - Names of services that are called otherwise on the node, by what they are (V(containerd), V(kubelet),
        V(kube-proxy)).
    type: dict
    default: {}
  store:
    description: The folder of the node in which releases are kept.
    type: str
    default: C:\ProgramData\lockstep\store
  keep:
    description: How many earlier releases of each artifact stay in the store.
    type: int
    default: 1
  backup:
    description:
      - Whether a file that is of no release in the store, somebody else's, is kept in the store before it is
        replaced, as C(<name>-found-<12 digits of its SHA-256>). It stays there.
    type: bool
    default: true
  start:
    description:
      - Whether services that were stopped for the swap are started again, and the former files are put back if they do
        not come up.
      - V(false) leaves them stopped, for the tasks that configure them and start what does not run. For one run, that
        is the way to a release that does not run with the former one's configuration.
    type: bool
    default: true
  host:
    description:
      - The Windows build that the node must have, as the description of the fleet says it, V(ltsc2022), V(20348) or
        V(10.0.20348). The revision does not matter.
      - The task fails without touching anything if the node has another build. Any build will do if not given.
    type: str
  timeout:
    description: Seconds that a service may take to stop, and to come up; 1 to 3600.
    type: int
    default: 120
  download_timeout:
    description: Seconds that one download may take; 1 to 3600.
    type: int
    default: 1800
attributes:
  check_mode:
    description:
      - Says what would change, without changing anything, on a node that has nothing yet too.
      - Of a file in an archive that was not fetched yet it cannot say whether it differs from what is in place.
    support: full
  diff_mode:
    description:
      - Shows the release, the SHA-256 of its download and of each file in place, before and after, and what the store
        keeps.
    support: full
notes:
  - Every run reads each file in place to tell its SHA-256.
  - If files are in place of which nobody knows the release, archives are fetched first, and nothing is stopped or
    replaced if they turn out to be the same.
seealso:
  - module: lockstep.windows.containerd_config
  - module: lockstep.windows.kubelet_config
extends_documentation_fragment:
  - lockstep.windows.node
"""

EXAMPLES = r"""
- name: Put containerd and kubelet on the node, checked against what their releases publish
  lockstep.windows.node_artifacts:
    artifacts:
      - {name: containerd, version: 2.3.4}
      - {name: kubelet, version: 1.36.1}
      - {name: kube-log-runner}

- name: Upgrade containerd from a mirror, with a SHA-256 of your own
  lockstep.windows.node_artifacts:
    mirror: https://mirror.example/windows
    checksums: pinned
    artifacts:
      - name: containerd
        version: 2.3.4
        sha256: 0000000000000000000000000000000000000000000000000000000000000000

- name: Send a credential provider from the controller, and restart kubelet when it changes
  lockstep.windows.node_artifacts:
    artifacts:
      - name: ecr-credential-provider
        version: 1.34.0
        src: ecr-credential-provider-windows-amd64.exe
        files:
          ecr-credential-provider-windows-amd64.exe: ecr-credential-provider.exe
        sha256: 0000000000000000000000000000000000000000000000000000000000000000
        into: C:\k\credential-providers
        services: [kubelet]
"""

RETURN = r"""
artifacts:
  description: Each artifact, in the order in which they were put in place.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Its name.
      type: str
    version:
      description: Its release.
      type: str
      sample: 2.3.4
    action:
      description:
        - V(installed) where there was nothing of it, V(upgraded) from another release, V(replaced) where a file was
          there that is of no known release or damaged, V(kept) where nothing differs.
      type: str
    from_version:
      description: The release that was in place, null where there was none or nobody knows.
      type: str
    sha256:
      description: SHA-256 of the download.
      type: str
    files:
      description: Its files on the node.
      type: list
      elements: str
steps:
  description: What was done on the node, in order (in check mode, what would be). Empty if nothing was to be done.
  returned: success
  type: list
  elements: str
restarted:
  description: The services that were restarted (in check mode, that would be).
  returned: success
  type: list
  elements: str
removed:
  description: The releases that left the store.
  returned: success
  type: list
  elements: str
store:
  description: The folder in which releases are kept.
  returned: success
  type: str
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
rolled_back:
  description: Whether the node is as it was before the task.
  returned: when a step failed on the node
  type: bool
"""
