"""Builds the programs of a Windows node for the stand-in: `python -m tests.standin.build FOLDER`.

    FOLDER/<version>/service-<recipe>/containerd.exe    upstream, as a service in whatever session services run
    FOLDER/<version>/service-<recipe>/ctr.exe           upstream
    FOLDER/crictl-<version>/<recipe>/crictl.exe         upstream
    FOLDER/log-runner-<version>/kube-log-runner.exe     upstream
    FOLDER/kubelet.exe                                  the kubelet of the stand-in (tests/standin/kubelet)
    FOLDER/releases/<artifact>-<version>/…              what a mirror has of these, for `lockstep sim --programs`

What is there is not built again, but for what has its source here (kubelet, and says, which plays kubeadm and
kube-proxy), and for what an earlier recipe (this file) built. Needs Go and its module proxy.

Two lines differ from upstream, because Wine 8 treats services in two ways unlike Windows:

- golang.org/x/sys/windows/svc asks whether the parent is services.exe in session 0. Wine's services are in session 1:
  without this condition they know that they are services, and report to the service manager in time.
- containerd ends as soon as it has been told to stop, maybe before it has told the service manager that it stopped.
  Windows sees the process end and says stopped; Wine says stop_pending for ever. So it waits a second.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
RELEASES: dict[str, Any] = yaml.safe_load((HERE / "releases.yaml").read_text(encoding="utf-8"))
CONTAINERD = ("containerd.exe", "ctr.exe")
RECIPE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def containerd(folder: Path, version: str, program: str = "containerd.exe") -> Path:
    """Where a program of a containerd release lies."""
    return folder / version / f"service-{RECIPE}" / program


def crictl(folder: Path) -> Path:
    """Where crictl.exe lies."""
    return folder / f"crictl-{RELEASES['crictl']}" / RECIPE / "crictl.exe"


def log_runner(folder: Path) -> Path:
    """Where kube-log-runner.exe lies."""
    return folder / f"log-runner-{RELEASES['component-base']}" / "kube-log-runner.exe"


def kubelet(folder: Path) -> Path:
    """Where the stand-in's kubelet.exe lies."""
    return folder / "kubelet.exe"


def releases(folder: Path) -> dict[Path, Path]:
    """Return where a mirror looks for the programs of its releases, and which programs of FOLDER these are."""
    found = {
        Path(f"containerd-{release}", name): containerd(folder, release, name)
        for release in RELEASES["containerd"]
        for name in CONTAINERD
    }
    found[Path(f"crictl-{RELEASES['crictl']}", "crictl.exe")] = crictl(folder)
    found[Path(f"kube-log-runner-{RELEASES['kubernetes']}", "kube-log-runner.exe")] = log_runner(folder)
    return {folder / "releases" / inside: program for inside, program in found.items()}


def own(folder: Path) -> dict[Path, tuple[str, str]]:
    """Return the programs whose source is here, each with the folder of that and what the linker sets in it."""
    version = RELEASES["kubernetes"]
    linked = {
        "kubelet": ("kubelet", f"main.release={version}"),
        "kubeadm": ("says", f"main.text=v{version}"),
        "kube-proxy": ("says", f"main.text=Kubernetes v{version}"),
    }
    found = {folder / "releases" / f"{name}-{version}" / f"{name}.exe": each for name, each in linked.items()}
    return {kubelet(folder): ("kubelet", "main.release="), **found}


def missing(folder: Path) -> list[Path]:
    """Return the programs that are still to be built."""
    wanted = [containerd(folder, version, name) for version in RELEASES["containerd"] for name in CONTAINERD]
    wanted += [crictl(folder), log_runner(folder), *releases(folder), *own(folder)]
    return [path for path in wanted if not path.exists()]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder.resolve()
    if shutil.which("go") is None:
        sys.stderr.write("this needs Go (https://go.dev/dl)\n")
        return 2
    for version in RELEASES["containerd"]:
        module = "github.com/containerd/containerd" + ("" if version.startswith("1.") else "/v2")
        for name in CONTAINERD:
            _build(containerd(folder, version, name), module, version, flags=f"-X {module}/version.Version=v{version}")
    tools, release = "sigs.k8s.io/cri-tools", RELEASES["crictl"]
    _build(crictl(folder), tools, release, flags=f"-X {tools}/pkg/version.Version=v{release}")
    _build(log_runner(folder), "k8s.io/component-base", RELEASES["component-base"], "logs")
    for place, program in releases(folder).items():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(program)
    for program, (source, variable) in own(folder).items():
        go(HERE / source, "build", "-trimpath", f"-ldflags=-s -w -X '{variable}'", f"-o={program}", ".")
    return 0


def _build(program: Path, module: str, version: str, where: str = "cmd", *, flags: str = "") -> None:
    """Build one program of a module; it appears at its place when it is complete, never before.

    `where` is the folder of the module that has it.
    """
    if program.exists():
        return
    sys.stderr.write(f"building {program.name} {version} for Windows\n")
    with tempfile.TemporaryDirectory(prefix="lockstep-build-") as name:
        work = Path(name)
        # `go install` refuses a module whose go.mod has replacements: build it as a dependency of an empty one.
        requirement = f"module example.invalid/build\n\ngo 1.21\n\nrequire {module} v{version}\n"
        (work / "go.mod").write_text(requirement, encoding="utf-8")
        _edit(work, "golang.org/x/sys", "windows/svc/security.go", "parentProcess.SessionID == 0 && ", "")
        if program.name == "containerd.exe":
            later = "time.AfterFunc(time.Second, func() { close(h.done) })"
            _edit(work, module, "cmd/containerd/command/service_windows.go", "close(h.done)", later)
        package = f"{module}/{where}/{program.stem}"
        go(work, "build", "-mod=mod", "-trimpath", f"-ldflags=-s -w {flags}", f"-o={work / 'program'}", package)
        program.parent.mkdir(parents=True, exist_ok=True)
        half = program.with_name(program.name + ".half")
        shutil.move(work / "program", half)
        half.replace(program)


def _edit(work: Path, module: str, path: str, old: str, new: str) -> None:
    """Build with a copy of a module, in the version that is chosen, that differs in one place."""
    downloaded = json.loads(go(work, "mod", "download", "-json", module))
    copy = work / module.replace("/", "-")
    shutil.copytree(downloaded["Dir"], copy, copy_function=shutil.copyfile)
    for folder in [copy, *copy.rglob("*/")]:
        folder.chmod(0o755)
    text = (copy / path).read_text(encoding="utf-8")
    if text.count(old) != 1:
        sys.exit(f"{module} {downloaded['Version']} is not as expected: {path} has {old!r} {text.count(old)} times")
    (copy / path).write_text(text.replace(old, new), encoding="utf-8")
    with (work / "go.mod").open("a", encoding="utf-8") as file:
        file.write(f"\nreplace {module} => ./{copy.name}\n")


def go(work: Path, *arguments: str) -> str:
    """Run go in a folder and return what it printed. Ends the program with go's own words where it fails."""
    environment = {"CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off", "GOOS": "windows", "GOARCH": "amd64"}
    done = subprocess.run(
        ["go", *arguments], cwd=work, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"go {' '.join(arguments)} failed:\n{done.stderr or done.stdout}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
