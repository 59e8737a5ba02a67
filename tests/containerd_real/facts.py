"""Asks containerd's programs what the catalogue says of them: `python -m tests.containerd_real.facts FOLDER`.

Prints each release's facts as its program shows them, and every difference from the catalogue's containerd.yaml; ends
with 1 if there is one. A series that the catalogue does not have yet is printed for whoever adds it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import yaml
from tests.containerd_real.programs import FOLDER, RELEASES, default, dump, program

from lockstep.catalog.containerd import Layout, UnknownSeries, known_series, layouts, series


def observed(path: Path) -> dict[str, Any]:
    """Return what a program with containerd's Windows defaults shows of itself, as plain data."""
    data = tomllib.loads(default(path).decode())
    where = layouts()[data["version"]]
    handlers = _at(data, where.handlers)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        readable = [number for number in range(2, 9) if dump(path, b"version = %d\n" % number, work).code == 0]
        lowest = layouts()[min(readable)]
        other = _dumped_handlers(path, lowest, "x.runtime_type", work)
        added = _dumped_handlers(path, lowest, "runhcs-wcow-process.base_runtime_spec", work)
        mark = dump(path, b"\xef\xbb\xbfversion = 2\n", work).code == 0
    return {
        "max_config_version": max(readable),
        "default_handler": _at(data, where.default_handler),
        "default_pause": _at(data, where.pause_image),
        "default_handlers": {
            name: {key: table[key] for key in ("runtime_type", "pod_annotations", "container_annotations")}
            | {"options": table.get("options") or {}}
            for name, table in handlers.items()
        },
        "handler_keys": sorted({key for table in handlers.values() for key in table}),
        "merges_handlers": "runhcs-wcow-process" in other and bool(added["runhcs-wcow-process"]["runtime_type"]),
        "reads_byte_order_mark": mark,
        "cni_bin_key": "bin_dirs" if "bin_dirs" in _at(data, where.cni) else "bin_dir",
    }


def stated(version: str) -> dict[str, Any]:
    """Return the same facts as the catalogue states them. Raises UnknownSeries."""
    facts = series(version)
    return {
        "max_config_version": facts.max_config_version,
        "default_handler": facts.default_handler,
        "default_pause": facts.default_pause,
        "default_handlers": {
            name: {
                "runtime_type": handler.runtime_type,
                "pod_annotations": list(handler.pod_annotations),
                "container_annotations": list(handler.container_annotations),
                "options": dict(handler.options),
            }
            for name, handler in facts.default_handlers.items()
        },
        "handler_keys": sorted(facts.handler_keys),
        "merges_handlers": facts.merges_handlers,
        "reads_byte_order_mark": facts.reads_byte_order_mark,
        "cni_bin_key": facts.cni_bin_key,
    }


def differences(version: str, path: Path) -> list[str]:
    """Return one line for every fact in which the catalogue and the program differ."""
    said, seen = stated(version), observed(path)
    return [
        f"containerd {version} {key}: the catalogue has {said[key]}, the program {seen[key]}"
        for key in said
        if said[key] != seen[key]
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "folder", nargs="?", default=FOLDER, help="where build.py built; by default LOCKSTEP_CONTAINERD_DIR"
    )
    folder = parser.parse_args().folder
    differing: list[str] = []
    for version in RELEASES:
        path = program(version, "windows-defaults", folder)
        sys.stdout.write(yaml.safe_dump({version: observed(path)}, sort_keys=False))
        try:
            differing += differences(version, path)
        except UnknownSeries:
            differing.append(f"containerd {version}: the catalogue has only {', '.join(known_series())}")
    sys.stdout.write("\n".join(differing or ["The catalogue says the same of every release."]) + "\n")
    return 1 if differing else 0


def _at(data: dict[str, Any], path: tuple[str, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def _dumped_handlers(path: Path, where: Layout, key: str, work: Path) -> dict[str, Any]:
    """Return the handlers after a file that says one thing of one handler was loaded."""
    plugin = ".".join(f"'{part}'" for part in where.handlers)
    done = dump(path, f"version = {where.config_version}\n[{plugin}]\n{key} = 'x'\n".encode(), work)
    data = tomllib.loads(done.output.decode())
    found = _at(data, layouts()[data["version"]].handlers)
    return dict(found)


if __name__ == "__main__":
    sys.exit(main())
