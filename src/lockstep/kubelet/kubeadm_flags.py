"""The flags that kubeadm leaves for kubelet in kubeadm-flags.env.

Source: kubernetes/kubernetes cmd/kubeadm/app/phases/kubelet/flags.go (WriteKubeletArgsToFile, Go's %q around the
arguments; ReadKubeletDynamicEnvFile). From 1.36 on the file may hold no flag at all: the runtime's endpoint is in
instance-config.yaml, which kubeadm merges into config.yaml when it writes that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lockstep.catalog.kubernetes import Minor
from lockstep.kubelet.command_line import flag_problem
from lockstep.kubelet.problem import CommandLineError
from lockstep.kubelet.service_line import parse

FILE = "kubeadm-flags.env"
_VARIABLE = "KUBELET_KUBEADM_ARGS"
_ESCAPED = re.compile(r'\\([\\"])')


@dataclass(frozen=True, slots=True)
class KubeadmFlags:
    """Flags by name as kubelet ends up with them, and the ones that its release would stop at, each with the reason."""

    flags: Mapping[str, str]
    dropped: tuple[str, ...]


def read_flags(content: bytes | None, facts: Minor) -> KubeadmFlags:
    """Return what the file says; nothing where there is no file.

    Raises CommandLineError for a file that is something else.
    """
    if content is None:
        return KubeadmFlags({}, ())
    line = parse(f"kubelet.exe {_arguments(content)}", facts)
    if line.stray:
        raise CommandLineError(f"'{line.stray[0]}' in {FILE} is no flag", f"correct {FILE}, which kubeadm writes")
    kept: dict[str, str] = {}
    dropped: list[str] = []
    for name, value in line.values().items():
        problem = flag_problem(name, value, facts)
        if problem is None:
            kept[name] = value
        else:
            dropped.append(problem.message)
    return KubeadmFlags(kept, tuple(dropped))


def _arguments(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CommandLineError(f"{FILE} is not UTF-8", f"write {FILE} as kubeadm does") from None
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    found = [line.partition("=")[2].strip() for line in lines if line.partition("=")[0].strip() == _VARIABLE]
    if not found:
        if lines:
            raise CommandLineError(f"{FILE} does not set {_VARIABLE}", f"write {FILE} as kubeadm does")
        return ""
    value = found[-1]
    if len(value) > 1 and value[0] == value[-1] == '"':
        # kubeadm doubles backslashes, people mostly do not.
        return _ESCAPED.sub(r"\1", value[1:-1])
    return value
