"""The fleet as validated data: what the description says, with every default filled in and nothing derived yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lockstep.catalog.builds import Build
from lockstep.k8s.taints import Taint, Toleration

Isolation = Literal["process", "hyperv"]


@dataclass(frozen=True, slots=True)
class UtilityVM:
    """Size of a Hyper-V class's utility VM; None leaves a value to the shim (1024 MB, 2 vCPUs)."""

    memory_mb: int | None = None
    processors: int | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """Nodes configured alike: one inventory group.

    `host` is the nodes' Windows build. `guest` is the build that every utility VM of the pool boots, or None where
    that is the host's own. `kubernetes` and `containerd` are full versions (`1.36.1`). `labels` and `kubelet` are
    the user's additions to what is derived.
    """

    name: str
    group: str
    host: Build
    guest: Build | None
    kubernetes: str
    containerd: str
    taint: Taint | None
    pause_image: str | None
    labels: Mapping[str, str]
    kubelet: Mapping[str, Any]

    @property
    def pinned_guest(self) -> Build | None:
        """The build that the pool's utility VMs boot, None where it is the host's own."""
        return None if self.guest == self.host else self.guest

    @property
    def effective_guest(self) -> Build:
        """The build that a Hyper-V container on the pool is of by default."""
        return self.guest or self.host


@dataclass(frozen=True, slots=True)
class KubeletFields:
    """A pool's own KubeletConfiguration fields, and the Kubernetes version that they are for."""

    version: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RuntimeClass:
    """A RuntimeClass as described; `pools`, `handler` and `node_selector` are None where they are to be derived.

    `overhead` maps resource names to Kubernetes quantities. `tolerations` are the user's additions to the pools'
    own taints.
    """

    name: str
    isolation: Isolation
    guest: Build | None
    pools: tuple[str, ...] | None
    handler: str | None
    vm: UtilityVM | None
    overhead: Mapping[str, str]
    node_selector: Mapping[str, str] | None
    tolerations: tuple[Toleration, ...]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Fleet:
    """Everything one cluster's Windows side should be, in the order of the description.

    `kubernetes` and `containerd` are the versions of pools that name none of their own, None where each does.
    """

    pools: Mapping[str, Pool]
    runtime_classes: Mapping[str, RuntimeClass]
    kubernetes: str | None = None
    containerd: str | None = None
