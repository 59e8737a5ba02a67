"""sc.exe for PowerShell for Linux, on the services that the stubs keep: it writes to the registry as Windows' does."""

from __future__ import annotations

import base64
import json
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

REGISTRY = Path("C:\\lockstep-stubs\\registry.json")
SERVICES = r"HKLM\SYSTEM\CurrentControlSet\Services"
STARTS = {"auto": 2, "delayed-auto": 2, "demand": 3, "disabled": 4}
ACTIONS = {"": 0, "restart": 1, "reboot": 2, "run": 3}
USAGE, UNKNOWN, MARKED, EXISTS = 1639, 1060, 1072, 1073


def main(arguments: list[str]) -> int:
    """Answer as sc.exe does; the words are those of a German Windows where they are translated."""
    verb, name, *rest = arguments
    file = Path(os.environ["LOCKSTEP_STUBS"]) / f"{name}.json"
    if verb == "create":
        if file.exists():
            return say(f"[SC] CreateService FEHLER {EXISTS}:", EXISTS)
        file.write_text(json.dumps(new(name)))
    if not file.exists():
        return say(f"[SC] OpenService FEHLER {UNKNOWN}:", UNKNOWN)
    if verb == "queryex":
        return query(json.loads(file.read_text()))
    with key(name) as values:
        if values.get("DeleteFlag", {}).get("value") == 1:
            return say(f"[SC] ChangeServiceConfig FEHLER {MARKED}:", MARKED)
        if verb == "create":
            values["DisplayName"] = {"kind": "string", "value": name}
        if verb == "delete":
            values.clear()
            file.unlink()
            return say("[SC] DeleteService ERFOLG")
        return VERBS[verb](values, rest)


def say(text: str, code: int = 0) -> int:
    """Print what is said, and return the exit code."""
    sys.stdout.write(f"{text}\n")
    return code


def new(name: str) -> dict[str, Any]:
    """Return the state of a service that never ran."""
    return {"name": name, "state": "Stopped", "process_id": 0, "exit_code": 1077, "behaviour": ["run"]}


@contextmanager
def key(name: str) -> Iterator[dict[str, Any]]:
    """Give a service's values in the registry, to be changed; without any the key goes too."""
    registry = json.loads(REGISTRY.read_text()) if REGISTRY.exists() else {}
    values = registry.setdefault(rf"{SERVICES}\{name}", {})
    yield values
    if not values:
        del registry[rf"{SERVICES}\{name}"]
    REGISTRY.write_text(json.dumps(registry))


def options(words: list[str]) -> dict[str, str]:
    """Return what follows each `option=`."""
    return dict(zip(words[::2], words[1::2], strict=True))


def define(values: dict[str, Any], words: list[str]) -> int:
    """Change what is given."""
    given = options(words)
    if set(given) - {"binPath=", "start=", "DisplayName=", "depend="}:
        return USAGE
    if "binPath=" in given:
        values["ImagePath"] = {"kind": "expand_string", "value": given["binPath="]}
    if "DisplayName=" in given:
        values["DisplayName"] = {"kind": "string", "value": given["DisplayName="]}
    if "start=" in given:
        values["Start"] = {"kind": "dword", "value": STARTS[given["start="]]}
        values["DelayedAutostart"] = {"kind": "dword", "value": int(given["start="] == "delayed-auto")}
    if "depend=" in given:
        depends = [word for word in given["depend="].split("/") if word]
        groups = [word[1:] for word in depends if word.startswith("+")]
        for kind, names in (("DependOnGroup", groups), ("DependOnService", [n for n in depends if n[0] != "+"])):
            values[kind] = {"kind": "multi_string", "value": names}
    return say("[SC] ChangeServiceConfig ERFOLG")


def create(values: dict[str, Any], words: list[str]) -> int:
    """Register a service with what CreateService writes by itself."""
    values["ObjectName"] = {"kind": "string", "value": "LocalSystem"}
    values["Start"] = {"kind": "dword", "value": STARTS["demand"]}
    return define(values, words)


def describe(values: dict[str, Any], words: list[str]) -> int:
    """Set the description; an empty one is none."""
    [text] = words
    values.pop("Description", None)
    if text:
        values["Description"] = {"kind": "string", "value": text}
    return say("[SC] ChangeServiceConfig2 ERFOLG")


def fail(values: dict[str, Any], words: list[str]) -> int:
    """Set recovery actions, as [MS-SCMR] 2.2.37 has them; none where there are none."""
    given = options(words)
    if set(given) != {"reset=", "actions="}:
        return USAGE
    parts = given["actions="].split("/") if given["actions="] else []
    actions = [(ACTIONS[word], int(delay)) for word, delay in zip(parts[::2], parts[1::2], strict=True)]
    reset = 0xFFFFFFFF if given["reset="] == "INFINITE" else int(given["reset="])
    data = struct.pack("<5I", reset, 0, 0, len(actions), 20) + b"".join(struct.pack("<2I", *one) for one in actions)
    values["FailureActions"] = {"kind": "binary", "value": base64.b64encode(data).decode("ascii")}
    return say("[SC] ChangeServiceConfig2 ERFOLG")


def flag(values: dict[str, Any], words: list[str]) -> int:
    """Set whether a stop with an error is a failure."""
    values["FailureActionsOnNonCrashFailures"] = {"kind": "dword", "value": int(words[0])}
    return say("[SC] ChangeServiceConfig2 ERFOLG")


def query(service: dict[str, Any]) -> int:
    """Tell state, process and exit codes."""
    specific = service.get("specific", False)
    win32, own = (1066, service["exit_code"]) if specific else (service["exit_code"], 0)
    return say(
        f"\nSERVICE_NAME: {service['name']}\n        TYP                : 10  WIN32_OWN_PROCESS \n"
        f"        STATUS             : 4  {service['state']} \n"
        f"        WIN32_BEENDIGUNGSCODE : {win32}  (0x{win32:x})\n"
        f"        DIENST_BEENDIGUNGSCODE : {own}  (0x{own:x})\n        PRÜFPUNKT          : 0x0\n"
        f"        PID                : {service['process_id']}\n        KENNZEICHEN        :"
    )


VERBS = {"create": create, "config": define, "description": describe, "failure": fail, "failureflag": flag}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
