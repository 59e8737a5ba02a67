"""What Windows on a node is to be: all that `windows_host` is told, as data."""

from __future__ import annotations

from dataclasses import dataclass

from lockstep.windows.firewall import Rule
from lockstep.windows.folders import Folder
from lockstep.windows.registry import Wanted

LONG_PATHS = Wanted(r"HKLM\SYSTEM\CurrentControlSet\Control\FileSystem", "LongPathsEnabled", "dword", 1)
"""Source: Microsoft Learn, "Maximum file path limitation"."""
_SEARCH_LIST = (r"HKLM\SYSTEM\CurrentControlSet\Services\Tcpip\Parameters", "SearchList")
"""Source: Microsoft Learn, "Manage the DNS suffix search list": suffixes with commas between them."""


@dataclass(frozen=True, slots=True)
class HostSettings:
    """The desired state of Windows on one node. Empty or None leaves an aspect as it is, but () of suffixes is none."""

    features: tuple[str, ...] = ()
    feature_source: str | None = None
    long_paths: bool = False
    pagefile: bool = False
    power_scheme: str | None = None
    time_service: bool = False
    time_servers: tuple[str, ...] = ()
    dns_suffixes: tuple[str, ...] | None = None
    folders: tuple[Folder, ...] = ()
    path: tuple[str, ...] = ()
    defender_processes: tuple[str, ...] = ()
    defender_paths: tuple[str, ...] = ()
    firewall: tuple[Rule, ...] = ()
    registry: tuple[Wanted, ...] = ()
    kubelet_service: str = "kubelet"

    @property
    def values(self) -> tuple[Wanted, ...]:
        """All values of the registry that are set as they are given."""
        own = [LONG_PATHS] if self.long_paths else []
        if self.dns_suffixes is not None:
            listed = ",".join(self.dns_suffixes)
            own.append(Wanted(*_SEARCH_LIST, "string", listed, may_lack=not listed))
        return (*own, *self.registry)
