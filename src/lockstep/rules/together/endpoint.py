"""A kubelet that looks for containerd where it does not listen."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml
from lockstep.rules.given.together import Together

RULE = "LW609"

_DEFAULT = r"\\.\pipe\containerd-containerd"
_FIELD = "containerRuntimeEndpoint"


def find(given: Together) -> Iterator[Finding]:
    r"""Yield a finding where containerRuntimeEndpoint names another pipe than containerd's address.

    Source: containerd defaults/defaults_windows.go; kubernetes/kubernetes pkg/kubelet/util/util_windows.go, which reads
    npipe:////./pipe/x as \\.\pipe\x.
    """
    addresses = {_address(config) for config in given.configs}
    for file in given.kubelets if len(addresses) == 1 else ():
        endpoint = file.view.fields.get(_FIELD)
        if not isinstance(endpoint, str) or not endpoint.startswith("npipe:"):
            continue
        pipe = endpoint.removeprefix("npipe:").replace("/", "\\")
        pipe = "\\\\" + pipe.lstrip("\\")
        address = next(iter(addresses))
        if pipe.lower() != address.lower():
            message = f"kubelet looks for containerd at {pipe}, and containerd listens at {address}"
            fix = f"write npipe:{address.replace(chr(92), '/').replace('//./', '////./')}"
            yield file.error(RULE, (_FIELD,), message, fix=fix)


def _address(config: ConfigToml) -> str:
    for path in (("plugins", "io.containerd.server.v1.grpc", "address"), ("grpc", "address")):
        found = config.get(path)
        if isinstance(found, str) and found:
            return found
    return _DEFAULT
