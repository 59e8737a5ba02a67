"""The test program where there is no Windows to run testservice.exe: the same answers, in Python.

Started as a program (PowerShell for Linux) and called in process (the emulated engine's Program).
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def answer(arguments: list[str]) -> tuple[int, str, str]:
    """Return exit code, standard output and standard error for the arguments that do not touch files or time."""
    match arguments:
        case ["arguments", *rest]:
            return 0, json.dumps(rest) + "\n", ""
        case ["fill", count]:
            return 0, "x" * int(count), ""
        case ["fail", code, text]:
            return int(code), "", f"{text}\n"
        case ["/r", "/t", seconds, "/c", text, "/d", "p:2:4"]:
            return shutdown(int(seconds), text)
        case _:
            return 2, "", f"testservice does not know {arguments}\n"


def shutdown(seconds: int, text: str) -> tuple[int, str, str]:
    """Answer as shutdown.exe does, which takes no comment of more than 512 characters."""
    if "refused" in text:
        return 5, "", "Zugriff verweigert(5)\n"
    return (0 if seconds > 0 and len(text) <= 512 else 87), "", ""


def counted(before: bytes | None, path: str) -> tuple[bytes, str]:
    """Return the file's new content and what `count` prints: one letter and one more run each time."""
    after = (before or b"") + b"x"
    return after, f"run {len(after)} of {path}\n"


def main(arguments: list[str]) -> int:
    """Answer as a program of its own."""
    match arguments:
        case ["sleep", seconds]:
            time.sleep(float(seconds))
            return 0
        case ["count", path]:
            file = Path(path)
            data, text = counted(file.read_bytes() if file.exists() else None, path)
            file.write_bytes(data)
            sys.stdout.write(text)
            return 0
    code, out, err = answer(arguments)
    sys.stdout.write(out)
    sys.stderr.write(err)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
