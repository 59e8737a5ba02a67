"""powercfg.exe for PowerShell for Linux: `/setactive GUID` on the file that stands for the registry there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

FOLDER = "C:\\lockstep-stubs\\"
KEY = r"HKLM\SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes"


def main(arguments: list[str]) -> int:
    """Answer as powercfg.exe does; the words are those of a German Windows."""
    verb, scheme = arguments
    if verb != "/setactive" or scheme not in json.loads(Path(f"{FOLDER}power.json").read_text())["schemes"]:
        sys.stderr.write('Ungültige Parameter - Verwenden Sie "/?", um die Hilfe anzuzeigen.\n')
        return 1
    path = Path(f"{FOLDER}registry.json")
    registry = json.loads(path.read_text())
    registry.setdefault(KEY, {})["ActivePowerScheme"] = {"kind": "string", "value": scheme}
    path.write_text(json.dumps(registry))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
