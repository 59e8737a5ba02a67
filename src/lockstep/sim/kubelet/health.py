"""curl.exe, as far as it asks a kubelet of the same node for its health.

Source: kubernetes v1.36.1 cmd/kubelet/app/server.go (healthzPort, healthzBindAddress) and staging/src/k8s.io/apiserver
pkg/server/healthz (InstallHandler: `ok`); curl's manual, EXIT CODES.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from lockstep.sim.engine import Completed
from lockstep.sim.machine import ExitError, Machine

_PORT = 10248
_REFUSED, _NOT_FOUND, _USAGE = 7, 22, 2


class Curl:
    """curl.exe: a healthy kubelet is one that runs. It reaches nothing but that."""

    def __init__(self, version: str) -> None:
        self._version = version

    def run(self, machine: Machine, arguments: list[str]) -> Completed:
        """Ask for what a URL names."""
        if "--version" in arguments:
            return Completed(0, f"curl {self._version} (Windows)\n".encode(), b"")
        address = next((each for each in arguments if each.startswith("http://")), None)
        if address is None:
            return Completed(_USAGE, b"", b"curl: (2) no URL specified\n")
        url = urlsplit(address)
        ports = [_port(memory) for memory in machine.memories() if memory.get("program") == "kubelet"]
        if url.hostname not in ("127.0.0.1", "localhost", "::1") or (url.port or 80) not in ports:
            words = (
                f"curl: (7) Failed to connect to {url.hostname} port {url.port or 80}: Could not connect to server\n"
            )
            return Completed(_REFUSED, b"", words.encode())
        if url.path != "/healthz":
            return Completed(_NOT_FOUND, b"", b"curl: (22) The requested URL returned error: 404\n")
        return Completed(0, b"ok", b"")

    def serve(self, machine: Machine, arguments: list[str]) -> Mapping[str, Any]:
        """Refuse: it is no service."""
        del machine, arguments
        raise ExitError(1, "curl: no service", before_ready=True)


def _port(memory: Mapping[str, Any]) -> int:
    return int(memory["configuration"].get("healthzPort", _PORT))
