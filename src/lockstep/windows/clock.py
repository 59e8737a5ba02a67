"""The Windows Time service: certificates and tokens of a cluster are worth nothing with a wrong clock."""

from __future__ import annotations

from collections.abc import Sequence

from lockstep.node.operations import define_service, read_registry, read_service, restart_service
from lockstep.windows import registry
from lockstep.windows.aspect import Aspect, Change, Line, Observed
from lockstep.windows.registry import Wanted

SERVICE = "W32Time"
READING = read_service(SERVICE)
_PARAMETERS = r"HKLM\SYSTEM\CurrentControlSet\Services\W32Time\Parameters"
_SERVERS, _SOURCE = (_PARAMETERS, "NtpServer"), (_PARAMETERS, "Type")
SERVERS, SOURCE = read_registry(*_SERVERS), read_registry(*_SOURCE)
_TITLE = "time service"
_AUTOMATIC = ("automatic", "delayed")


def values(servers: Sequence[str]) -> list[Wanted]:
    """Return the values that name these servers.

    Source: Microsoft Learn, "Windows Time service tools and settings": NtpServer is a list with spaces, 0x8 has
    Windows ask as a client; Type NTP takes the servers from there, and not from a domain.
    """
    if not servers:
        return []
    listed = " ".join(f"{server},0x8" for server in servers)
    return [Wanted(*_SERVERS, "string", listed), Wanted(*_SOURCE, "string", "NTP")]


def compare(servers: Sequence[str], observed: Observed, *, managed: bool) -> Aspect:
    """Return what is to be done about the service and its servers; None of it where it is not managed.

    What is held is that it starts by itself. It is started with that or with new servers, and not because it is
    stopped: where a machine is in no domain, Windows' own trigger stops it after each boot, whatever its start type.
    Source: Microsoft Learn, "Windows Time service doesn't start automatically on a workgroup computer" (KB 2385818).
    """
    found = observed(READING)
    if not managed:
        return Aspect(_TITLE)
    if not found["exists"]:
        return Aspect(_TITLE, warnings=(f"this Windows has no service {SERVICE}: see to it that its clock is right",))
    settings = registry.compare(_TITLE, values(servers), observed)
    automatic, running = found["start_type"] in _AUTOMATIC, found["state"] == "running"
    starts = bool(settings.changes) or not (automatic or running)
    before = f"{found['start_type'].replace('_', ' ')}, {found['state'].replace('_', ' ')}"
    state = "running" if starts else found["state"].replace("_", " ")
    after = f"{found['start_type'] if automatic else 'automatic'}, {state}"
    changes = list(settings.changes)
    if not automatic:
        define = define_service(SERVICE, {"start_type": "automatic"}, replaces=found["binary_path"])
        changes.append(Change(f"have service {SERVICE} start by itself", define))
    if starts:
        changes.append(
            Change(
                f"{'re' if running else ''}start service {SERVICE}",
                restart_service(SERVICE, timeout_seconds=60, settle_seconds=0),
            )
        )
    return Aspect(_TITLE, [Line(f"service {SERVICE}", before, after), *settings.lines], changes)
