"""Reading nodes: the playbook that ships with lockstep, run by the Ansible of this Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PLAYBOOK = "lockstep.windows.observe"
_ALL = "windows"
_FORKS = 50
"""One process a node: the work is waiting for Windows, not computing."""


def observe(inventory: Path, hosts: Sequence[str], folder: Path, vault_password_file: Path | None) -> str:
    """Have Ansible keep what it reads of these hosts in `folder`; return what it printed.

    No hosts stands for the group that the project's playbooks are for. A host that could not be read is kept as well,
    unless Ansible did not come as far as that.
    """
    variables = {"lockstep_hosts": ",".join(hosts) or _ALL, "lockstep_observed": str(folder)}
    # The module: a program of that name on the PATH may be another Ansible's, which has no lockstep.
    command = [sys.executable, "-m", "ansible", "playbook", PLAYBOOK, "-i", str(inventory), "-e", json.dumps(variables)]
    if vault_password_file is not None:
        command += ["--vault-password-file", str(vault_password_file)]
    environment = {"ANSIBLE_FORKS": str(_FORKS), **os.environ, "ANSIBLE_NOCOLOR": "1"}
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)  # noqa: S603 - this Python's own Ansible
    return (done.stdout + done.stderr).strip()
