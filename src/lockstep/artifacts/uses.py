"""Which services run which artifacts on a node."""

from __future__ import annotations

import ntpath

from lockstep.artifacts.observed import ServiceSeen
from lockstep.artifacts.wanted import File, Wanted


def runs(service: ServiceSeen, kind: str, wanted: Wanted, file: File) -> bool:
    """Return whether a service, which is of this kind, runs a file of an artifact from where that belongs."""
    use = wanted.services.get(file.name, {}).get(kind)
    if not service.exists or use is None or elsewhere(service, kind, wanted):
        return False
    return use == "always" or _named(service, file.path)


def elsewhere(service: ServiceSeen, kind: str, wanted: Wanted) -> bool:
    """Return whether a service runs its program from another folder: what is put in place is not what it runs."""
    own = [file for file in wanted.files if wanted.services.get(file.name, {}).get(kind) == "always"]
    return any(_named(service, "\\" + file.name) and not _named(service, file.path) for file in own)


def _named(service: ServiceSeen, path: str) -> bool:
    return ntpath.normcase(path) in ntpath.normcase(service.command_line)
