"""Builds containerd's own programs: `python tests/containerd_real/build.py FOLDER [VERSION ...]`.

    FOLDER/<version>/linux/containerd               upstream, for this machine
    FOLDER/<version>/windows-defaults/containerd    the same, with the CRI defaults that upstream has for Windows
    FOLDER/<version>/hosts/hosts                    prints what the release makes of hosts.toml: hosts/main.go

What is there is not built again. Needs Go and its module proxy; a program takes about a minute on two cores.
containerd's Windows defaults are plain Go in one file beside the one for Linux, and compile anywhere: so a program for
this machine can show what containerd on Windows does with a file, its own handlers included.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

RELEASES: list[str] = yaml.safe_load((Path(__file__).parent / "releases.yaml").read_text(encoding="utf-8"))
TAGS = "no_btrfs,no_devmapper,no_zfs"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("versions", nargs="*", default=RELEASES, help="releases; by default those of releases.yaml")
    options = parser.parse_args()
    if shutil.which("go") is None:
        sys.stderr.write("build.py needs Go (https://go.dev/dl) to build containerd\n")
        return 2
    for version in options.versions:
        folder = options.folder.resolve() / version
        build_hosts(version, folder / "hosts" / "hosts")
        programs = [folder / "linux" / "containerd", folder / "windows-defaults" / "containerd"]
        for program in programs:
            if not program.exists():
                sys.stderr.write(f"building containerd {version} ({program.parent.name})\n")
                build(version, program)
    return 0


def build(version: str, program: Path) -> None:
    """Build one program; it appears at its place when it is complete, never before."""
    module = module_of(version)
    with tempfile.TemporaryDirectory(prefix="lockstep-containerd-") as name:
        work = Path(name)
        # `go install` refuses a module whose go.mod has replacements: build it as a dependency of an empty one.
        # From go 1.17 on, modules that nothing needs are not looked up; some of containerd's are not served.
        requirement = f"module example.invalid/build\n\ngo 1.21\n\nrequire {module} v{version}\n"
        if program.parent.name == "windows-defaults":
            requirement += f"\nreplace {module} => {with_windows_defaults(work, module, version)}\n"
        (work / "go.mod").write_text(requirement, encoding="utf-8")
        version_flag = f"-X {module}/version.Version=v{version}"
        flags = ["-mod=mod", "-trimpath", f"-tags={TAGS}", f"-ldflags=-s -w {version_flag}", f"-o={work / 'program'}"]
        go(work, "build", *flags, f"{module}/cmd/containerd")
        place(work / "program", program)


def build_hosts(version: str, program: Path) -> None:
    """Build the program that reads hosts.toml as one release does, unless it is there."""
    if program.exists():
        return
    sys.stderr.write(f"building what reads hosts.toml as containerd {version} does\n")
    module = module_of(version)
    packages = f"{module}/remotes" if version.startswith("1.") else f"{module}/core/remotes"
    source = (Path(__file__).parent / "hosts" / "main.go").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="lockstep-containerd-") as name:
        work = Path(name)
        requirement = f"module example.invalid/build\n\ngo 1.21\n\nrequire {module} v{version}\n"
        (work / "go.mod").write_text(requirement, encoding="utf-8")
        (work / "main.go").write_text(source.replace("CONTAINERD", packages), encoding="utf-8")
        go(work, "build", "-mod=mod", "-trimpath", f"-o={work / 'program'}", ".")
        place(work / "program", program)


def module_of(version: str) -> str:
    """Return the Go module of a release."""
    return "github.com/containerd/containerd" + ("" if version.startswith("1.") else "/v2")


def place(built: Path, program: Path) -> None:
    """Move what was built to its place, where it appears when it is complete."""
    program.parent.mkdir(parents=True, exist_ok=True)
    half = program.with_name(program.name + ".half")
    shutil.move(built, half)
    half.replace(program)


def with_windows_defaults(work: Path, module: str, version: str) -> Path:
    """Return a copy of the release's source in which the CRI defaults for Windows stand where those for Linux did."""
    downloaded = json.loads(go(work, "mod", "download", "-json", f"{module}@v{version}"))
    source = work / "source"
    shutil.copytree(downloaded["Dir"], source, copy_function=shutil.copyfile)
    for folder in [source, *source.rglob("*/")]:
        folder.chmod(0o755)
    config = source / ("pkg" if version.startswith("1.") else "internal") / "cri" / "config"
    (config / "config_unix.go").write_bytes((config / "config_windows.go").read_bytes())
    (config / "config_windows.go").unlink()
    return source


def go(work: Path, *arguments: str) -> str:
    """Run go in a folder and return what it printed. Ends the program with go's own words where it fails."""
    done = subprocess.run(
        ["go", *arguments],
        cwd=work,
        env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"go {' '.join(arguments)} failed:\n{done.stderr or done.stdout}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
