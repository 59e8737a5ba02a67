"""Where kubelet's things are on a node, by what a task says of it."""

from __future__ import annotations

import ntpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.kubelet import kubeadm_flags, log_runner, nssm

HEALTH_PROGRAM = r"C:\Windows\System32\curl.exe"
"""Part of Windows from 1803 on. Source: Microsoft, "Tar and Curl Come to Windows!"."""
LOG_FILE = r"C:\var\log\kubelet\kubelet.log"
"""Where a wrapper that is new writes to."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Full paths on the node. `config_dir` is None where there is to be no folder of drop-ins."""

    config: str
    program: str
    kubeconfig: str
    log_file: str | None
    config_dir: str | None
    providers_folder: str

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Paths:
        """Return the paths that a kubelet_config task has given or gets by default."""
        folder = arguments["config_dir"] or (ntpath.join(_folder(arguments["path"]), "config.d"))
        return cls(
            config=arguments["path"],
            program=arguments["program"],
            kubeconfig=arguments["kubeconfig"],
            log_file=arguments["log_file"],
            config_dir=folder if arguments["config_dir"] or arguments["drop_ins"] else None,
            providers_folder=arguments["credential_provider_dir"],
        )

    @property
    def runner(self) -> str:
        """kube-log-runner.exe, beside kubelet.exe."""
        return ntpath.join(_folder(self.program), log_runner.PROGRAM)

    @property
    def nssm(self) -> str:
        """nssm.exe, beside kubelet.exe."""
        return ntpath.join(_folder(self.program), nssm.PROGRAM)

    @property
    def kubeadm_flags(self) -> str:
        """The file in which kubeadm leaves flags, beside the configuration."""
        return ntpath.join(_folder(self.config), kubeadm_flags.FILE)

    @property
    def instance_config(self) -> str:
        """The file from which kubeadm takes the runtime's endpoint, from 1.36 on."""
        return ntpath.join(_folder(self.config), "instance-config.yaml")

    @property
    def bootstrap_kubeconfig(self) -> str:
        """The kubeconfig to join with, beside the one to work with."""
        return ntpath.join(_folder(self.kubeconfig), "bootstrap-kubelet.conf")

    @property
    def client_ca(self) -> str:
        """The certificates by which kubelet trusts who asks it, where kubeadm puts them."""
        return ntpath.join(_folder(self.kubeconfig), "pki", "ca.crt")

    @property
    def credentials(self) -> str:
        """The folder of what only administrators may read. That of the configuration is not one: pods use it too."""
        return _folder(self.kubeconfig)

    @property
    def providers(self) -> str:
        """The configuration of credential providers, whose environment may hold secrets."""
        return ntpath.join(self.credentials, "credential-providers.yaml")

    @property
    def logs(self) -> str:
        """The folder of the log file."""
        return _folder(self.log_file or LOG_FILE)

    def provider(self, name: str) -> str:
        """Return the program of a credential provider."""
        return ntpath.join(self.providers_folder, name if name.lower().endswith(".exe") else f"{name}.exe")

    def drop_in(self, name: str) -> str:
        """Return the path of a drop-in."""
        return ntpath.join(self.config_dir or "", name)


def _folder(path: str) -> str:
    return ntpath.dirname(path)
