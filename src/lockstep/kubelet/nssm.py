"""nssm in front of kubelet: the service runs nssm.exe, which has everything else from the service's registry key.

Source: nssm's README.txt, 2.24, "Managing services from the command line" and the section of each parameter;
iain.cx/src/nssm registry.h for names and types.
"""

from __future__ import annotations

import ntpath
from collections.abc import Mapping

from lockstep.k8s import quantities
from lockstep.kubelet.arguments import quote, split
from lockstep.kubelet.problem import CommandLineError
from lockstep.kubelet.service_line import find_kubelet

PROGRAM = "nssm.exe"
APPLICATION = "Application"
KINDS: Mapping[str, str] = {
    APPLICATION: "expand_string",
    "AppParameters": "expand_string",
    "AppDirectory": "expand_string",
    "AppStdout": "expand_string",
    "AppStderr": "expand_string",
    "AppRotateFiles": "dword",
    "AppRotateOnline": "dword",
    "AppRotateBytes": "dword",
}
"""The parameters that kubelet's service has, by the type of their registry value."""
Value = str | int
_LARGEST = 2**32 - 1


def key(service: str) -> str:
    """Return the registry key of a service's parameters."""
    return rf"HKLM\SYSTEM\CurrentControlSet\Services\{service}\Parameters"


def whole_line(parameters: Mapping[str, object]) -> str:
    """Return the command line of what nssm starts, its program first."""
    return f"{quote(str(parameters.get(APPLICATION) or ''))} {parameters.get('AppParameters') or ''}".rstrip()


def line_of(parameters: Mapping[str, object]) -> str:
    """Return kubelet's own command line, program first; raises CommandLineError where nssm starts something else."""
    program = str(parameters.get(APPLICATION) or "")
    if not program:
        raise CommandLineError("nssm.exe starts nothing: its parameter Application is not set", "remove the service")
    line = whole_line(parameters)
    try:
        at, runner = find_kubelet(line, split(line))
    except CommandLineError:
        at, runner = 1, None
    if at or runner:
        raise CommandLineError(
            f"nssm.exe starts {program}, so kubelet's flags are kept elsewhere",
            "give them in flags, remove the service (sc.exe delete) and run again",
        )
    return line


def with_line(parameters: Mapping[str, Value], line: str) -> dict[str, Value]:
    """Return the parameters with kubelet's own command line in them."""
    program = split(line)[0]
    return {**parameters, APPLICATION: program.value, "AppParameters": line[program.end :].strip()}


def fresh(program: str) -> dict[str, Value]:
    """Return the parameters that a service has from its beginning, whatever it logs."""
    return {"AppDirectory": ntpath.dirname(program)}


def logging(file: str | None, size: str | None) -> dict[str, Value]:
    """Return the parameters for a log file, and for its size at which another is begun; what is None is left out.

    nssm removes no old file. Raises QuantityError for a size that is none.
    """
    found: dict[str, Value] = {} if file is None else {"AppStdout": file, "AppStderr": file}
    if size is not None:
        # Online: while kubelet runs, not only when it starts.
        rotated = min(quantities.to_bytes(size), _LARGEST)
        found |= {"AppRotateFiles": 1, "AppRotateOnline": 1, "AppRotateBytes": rotated}
    return found
