"""A path or socket of Linux."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW432"

_SERVER = "io.containerd.server.v1."
_PATHS = (
    ("root",),
    ("state",),
    ("grpc", "address"),
    ("ttrpc", "address"),
    ("debug", "address"),
    ("plugins", f"{_SERVER}grpc", "address"),
    ("plugins", f"{_SERVER}ttrpc", "address"),
)
_FOLDERS = ("/run/", "/var/", "/etc/", "/opt/", "/usr/")


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each path that stands in a folder of Linux.

    Source: containerd defaults/defaults_windows.go, for what these are on Windows.
    """
    cni = config.layout.cni
    for path in (*_PATHS, (*cni, "bin_dir"), (*cni, "conf_dir"), (*config.layout.registry, "config_path")):
        found = config.get(path)
        if isinstance(found, str) and found.startswith(_FOLDERS):
            pipe = path[-1] == "address"
            message = f"'{found}' is a {'socket' if pipe else 'path'} of Linux"
            fix = r"write '\\.\pipe\containerd-containerd'" if pipe else "write a path with a drive letter: 'C:\\...'"
            yield config.warning(RULE, path, message, fix=fix)
