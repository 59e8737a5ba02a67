"""sc.exe for PowerShell for Linux: `queryex` and `config` on the services that the stubs keep."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Answer as sc.exe does; the words are those of a German Windows where they are translated."""
    verb, name, *rest = arguments
    file = Path(os.environ["LOCKSTEP_STUBS"]) / f"{name}.json"
    registry = Path("C:\\lockstep-stubs\\registry.json")
    if not file.exists():
        sys.stdout.write("[SC] OpenService FEHLER 1060:\n")
        return 1060
    service = json.loads(file.read_text())
    if verb == "queryex":
        specific = service.get("specific", False)
        win32, own = (1066, service["exit_code"]) if specific else (service["exit_code"], 0)
        sys.stdout.write(
            f"\nSERVICE_NAME: {name}\n        TYP                : 10  WIN32_OWN_PROCESS \n"
            f"        STATUS             : 4  {service['state']} \n"
            f"        WIN32_BEENDIGUNGSCODE : {win32}  (0x{win32:x})\n"
            f"        DIENST_BEENDIGUNGSCODE : {own}  (0x{own:x})\n        PRÜFPUNKT          : 0x0\n"
            f"        PID                : {service['process_id']}\n        KENNZEICHEN        :\n"
        )
        return 0
    if verb == "config" and rest[0] == "binPath=":
        keys = json.loads(registry.read_text())
        keys[rf"HKLM\SYSTEM\CurrentControlSet\Services\{name}"]["ImagePath"]["value"] = rest[1]
        registry.write_text(json.dumps(keys))
        sys.stdout.write("[SC] ChangeServiceConfig ERFOLG\n")
        return 0
    return 1639


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
