"""Runs containerd's own programs on config.toml files and reads what they make of them."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = os.environ.get("LOCKSTEP_CONTAINERD_DIR", "")
RELEASES: tuple[str, ...] = tuple(yaml.safe_load((Path(__file__).parent / "releases.yaml").read_text(encoding="utf-8")))
# Upstream for Linux; and the same with upstream's CRI defaults for Windows, which a file merges with or replaces.
FLAVOURS = ("linux", "windows-defaults")

_TIME = re.compile(r'^time="[^"]*" ')


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program printed; `warnings` are its log lines of level warning and above, without the one on migration."""

    code: int
    output: bytes
    warnings: tuple[str, ...]


def program(version: str, flavour: str, folder: str = "") -> Path:
    """Return one built program. Raises FileNotFoundError, saying how to build it."""
    path = Path(folder or FOLDER) / version / flavour / "containerd"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: python tests/containerd_real/build.py {folder or FOLDER}")
    return path


def run(path: Path, *arguments: str) -> Ran:
    """Run a program that ends by itself."""
    done = subprocess.run([path, *arguments], capture_output=True, timeout=60, check=False)
    lines = [_TIME.sub("", line) for line in done.stderr.decode(errors="replace").splitlines()]
    warnings = tuple(line for line in lines if "level=info" not in line and "Configuration migrated" not in line)
    return Ran(done.returncode, done.stdout, warnings)


def default(path: Path) -> bytes:
    """Return the program's `config default`."""
    return run(path, "config", "default").output


def dump(path: Path, data: bytes, work: Path) -> Ran:
    """Return what the program has loaded from a config.toml, its own defaults included (`config dump`)."""
    file = work / "config.toml"
    file.write_bytes(data)
    return run(path, "--config", str(file), "config", "dump")
