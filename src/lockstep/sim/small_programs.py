"""Programs of a simulated node that do next to nothing: they tell their version, or are there and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lockstep.sim.engine import Completed
from lockstep.sim.machine import ExitError, Machine, Program


class Versioned:
    """A program that prints its version when it is asked with these arguments, and refuses everything else."""

    def __init__(self, name: str, version: str, asked: tuple[str, ...], text: str) -> None:
        self._name = name
        self._asked = list(asked)
        self._text = text.format(version=version)

    def run(self, machine: Machine, arguments: list[str]) -> Completed:
        """Tell the version."""
        del machine
        if self._asked and arguments == self._asked:
            return Completed(0, f"{self._text}\n".encode(), b"")
        runs = f"{self._name} {' '.join(self._asked)} only" if self._asked else f"no {self._name}"
        return Completed(1, b"", f"{self._name}: the simulated node runs {runs}\n".encode())

    def serve(self, machine: Machine, arguments: list[str]) -> Mapping[str, Any]:
        """Refuse: the simulated node does not play it as a service."""
        del machine, arguments
        raise ExitError(1, f"{self._name}: the simulated node does not run it as a service", before_ready=True)


class SystemService:
    """A service of Windows' own: it runs, and tells nothing."""

    def run(self, machine: Machine, arguments: list[str]) -> Completed:
        """End at once."""
        del machine, arguments
        return Completed(1, b"", b"")

    def serve(self, machine: Machine, arguments: list[str]) -> Mapping[str, Any]:
        """Run."""
        del machine, arguments
        return {}


def _versioned(name: str, asked: tuple[str, ...] = (), text: str = "") -> Callable[[str], Program]:
    return lambda version: Versioned(name, version, asked, text)


SMALL_PROGRAMS: Mapping[str, Callable[[str], Program]] = {
    # Source: hcsshim cmd/containerd-shim-runhcs-v1/main.go and containerd pkg/shim, -v.
    "containerd-shim-runhcs-v1.exe": _versioned(
        "containerd-shim-runhcs-v1", ("-v",), "containerd-shim-runhcs-v1:\n  Version:  v{version}"
    ),
    "host-local.exe": _versioned("host-local"),
    "win-bridge.exe": _versioned("win-bridge"),
    "win-overlay.exe": _versioned("win-overlay"),
    "kubeadm.exe": _versioned("kubeadm", ("version", "-o", "short"), "v{version}"),
    "kube-proxy.exe": _versioned("kube-proxy", ("--version",), "Kubernetes v{version}"),
    "svchost.exe": lambda _: SystemService(),
    "vmcompute.exe": lambda _: SystemService(),
    "vmms.exe": lambda _: SystemService(),
}
