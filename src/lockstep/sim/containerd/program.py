"""containerd.exe, ctr.exe and crictl.exe of a simulated node."""

from __future__ import annotations

import json
import ntpath
from collections.abc import Mapping
from typing import Any

import tomlkit

from lockstep.sim.containerd.effective import Effective, effective
from lockstep.sim.containerd.loader import ConfigError, Files, Loaded, MissingFileError, fresh, load
from lockstep.sim.containerd.release import CRI_V2, RUNTIME_V3, Release
from lockstep.sim.disk import DiskError
from lockstep.sim.engine import Completed
from lockstep.sim.machine import ExitError, Machine

DEFAULT_CONFIG = "C:\\Program Files\\containerd\\config.toml"
_VALUE_FLAGS = ("config", "log-level", "address", "root", "state", "log-file", "service-name")
_SHORT = {"c": "config", "l": "log-level", "a": "address", "v": "version", "h": "help"}
_ENDPOINT = "npipe:////./pipe/containerd-containerd"


class UsageError(Exception):
    """A flag that the program does not have."""


def parse(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return flags (name to value) and words of a containerd command line; raises UsageError."""
    flags: dict[str, str] = {}
    words: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if not argument.startswith("-"):
            words.append(argument)
            continue
        name, equals, value = argument.lstrip("-").partition("=")
        name = _SHORT.get(name, name)
        if name in _VALUE_FLAGS:
            if not equals and not rest:
                raise UsageError(f"flag needs an argument: -{name}")
            flags[name] = value if equals else rest.pop(0)
        elif name in ("run-service", "register-service", "unregister-service", "version", "help"):
            flags[name] = value or "true"
        else:
            raise UsageError(f"flag provided but not defined: -{name}")
    return flags, words


class Containerd:
    """containerd.exe of one version."""

    def __init__(self, version: str) -> None:
        self._release = Release.of(version)

    def run(self, machine: Machine, arguments: list[str]) -> Completed:
        """`--version`, `config default`, `config dump`, `config migrate`."""
        try:
            flags, words = parse(arguments)
            if "version" in flags:
                return _printed(_version_line(self._release))
            if words[:1] == ["config"] and words[1:] in (["default"], ["dump"], ["migrate"]):
                state = effective(self._release, self._reported(machine, flags, words[1]))
                logged = "".join(f"{_log_line(machine, 'warning', line)}\n" for line in state.warnings)
                return Completed(0, tomlkit.dumps(_plain(state.config)).encode(), logged.encode())
        except (UsageError, ConfigError) as error:
            return Completed(1, b"", f"containerd: {error}\n".encode())
        return Completed(
            1, b"", b"containerd: the simulated node runs containerd.exe as a service, --version and config only\n"
        )

    def serve(self, machine: Machine, arguments: list[str]) -> Mapping[str, Any]:
        """Come up as a service: its effective configuration; raises ExitError.

        What is wrong with the configuration is printed before the service's log file is opened, so a service says
        it nowhere. Source: containerd cmd/containerd/command/main.go (LoadConfig before
        registerUnregisterService) and service_windows.go.

        It comes up without Windows' feature Containers: the snapshotter asks for NTFS alone, the CRI plugin for
        folders, and HCS is asked when a layer is unpacked or a pod starts. Source: containerd, main of 2026-08-22,
        plugins/snapshots/windows/windows.go, internal/cri/server/service_windows.go.
        """
        try:
            flags, _ = parse(arguments)
            if "run-service" not in flags and machine.under_service_manager:
                raise ExitError(
                    0, "containerd runs in the foreground and does not speak to the service manager", before_ready=True
                )
            loaded = self._load(machine, flags)
        except (UsageError, ConfigError) as error:
            raise ExitError(1, f"containerd: {error}", before_ready=True) from None
        # What is not started with --run-service never looks at the flag.
        log_file = flags.get("log-file") if "run-service" in flags else None
        if log_file and not machine.disk.is_folder(ntpath.dirname(log_file)):
            opened = f'open log file "{log_file}": open {log_file}: The system cannot find the path specified.'
            raise ExitError(1, f"containerd: {opened}", before_ready=True)
        log = _Log(machine, log_file)
        log.write("info", f"starting containerd version={self._release.version}")
        try:
            state = effective(self._release, loaded)
        except ConfigError as error:
            log.raw(f"containerd: {error}")
            raise ExitError(1, f"containerd: {error}", before_ready=True) from None
        for line in state.warnings:
            log.write("warning", line)
        if state.cri_error is None:
            log.write("info", "Start cri plugin")
        log.write("info", "containerd successfully booted in 0.1s")
        return _memory(self._release, state, loaded)

    def _load(self, machine: Machine, flags: Mapping[str, str]) -> Loaded:
        files = _files(machine)
        if "config" not in flags and files.read(DEFAULT_CONFIG) is None:
            return Loaded({"version": 2 if self._release.major == 1 else self._release.config_version})
        return load(self._release, flags.get("config", DEFAULT_CONFIG), files)

    def _reported(self, machine: Machine, flags: Mapping[str, str], command: str) -> Loaded:
        """Return what `config default` and `config dump` are about.

        Source: containerd cmd/containerd/command/config.go: os.IsNotExist sees 2.x's error of a missing file, and
        not the wrapped one of 1.x.
        """
        # What is printed has the newest version, whatever version a missing file counts as.
        loaded = Loaded({"version": 2 if self._release.major == 1 else self._release.config_version})
        if command == "default":
            return loaded
        path = flags.get("config", DEFAULT_CONFIG)
        try:
            return load(self._release, path, _files(machine), start := fresh(self._release))
        except MissingFileError:
            if self._release.major == 1:
                raise
            return start


def _files(machine: Machine) -> Files:
    def read(path: str) -> bytes | None:
        try:
            return machine.disk.read(path)
        except DiskError as error:
            raise ConfigError(f"open {path}: {error.message}") from None

    return Files(read, lambda pattern: _matching(machine, pattern))


def _matching(machine: Machine, pattern: str) -> list[str]:
    folder, _, name = pattern.rpartition("\\")
    return machine.disk.listing(folder, name)


def _memory(release: Release, state: Effective, loaded: Loaded) -> dict[str, Any]:
    return {
        "program": "containerd",
        "version": release.version,
        "files": loaded.files,
        "handlers": {name: dict(handler) for name, handler in state.handlers.items()},
        "default_handler": state.default_handler,
        "pause_image": state.pause_image,
        "warnings": list(state.warnings),
        "cri_error": state.cri_error,
        "config": _plain(state.config),
    }


class Ctr:
    """ctr.exe of one version."""

    def __init__(self, version: str) -> None:
        self._version = version

    def run(self, machine: Machine, arguments: list[str]) -> Completed:
        """`--version` and `version`."""
        if arguments[:1] in (["--version"], ["-v"]):
            return _printed(f"ctr {_package(self._version)} v{self._version}")
        if arguments != ["version"]:
            return Completed(1, b"", b"ctr: the simulated node runs ctr version only\n")
        client = f"Client:\n  Version:  v{self._version}\n  Revision: simulated\n\n"
        server = running(machine)
        if server is None:
            return Completed(
                1,
                client.encode(),
                b'ctr: failed to dial "\\\\\\\\.\\\\pipe\\\\containerd-containerd": context deadline exceeded\n',
            )
        return Completed(0, f"{client}Server:\n  Version:  v{server['version']}\n  Revision: simulated\n".encode(), b"")

    def serve(self, machine: Machine, arguments: list[str]) -> Mapping[str, Any]:  # noqa: ARG002 - every program has it
        """Refuse: it is no service."""
        raise ExitError(1, "ctr: is no service", before_ready=True)


class Crictl:
    """crictl.exe: what CRI of the running containerd says."""

    def __init__(self, version: str) -> None:
        self._version = version

    def run(self, machine: Machine, arguments: list[str]) -> Completed:
        """`--version` and `info`."""
        words = [argument for argument in arguments if not argument.startswith("-")]
        if "--version" in arguments or "-v" in arguments:
            return _printed(f"crictl version v{self._version}")
        if "info" not in words:
            return Completed(1, b"", b"crictl: the simulated node runs crictl info only\n")
        server = running(machine)
        if server is None:
            return _crictl_failed(
                machine, "Unavailable", "connection error: the system cannot find the file specified."
            )
        if server["cri_error"] is not None:
            return _crictl_failed(machine, "Unimplemented", "unknown service runtime.v1.RuntimeService")
        return Completed(0, (json.dumps(info(server, network_ready(machine, server)), indent=2) + "\n").encode(), b"")

    def serve(self, machine: Machine, arguments: list[str]) -> Mapping[str, Any]:  # noqa: ARG002 - every program has it
        """Refuse: it is no service."""
        raise ExitError(1, "crictl: is no service", before_ready=True)


def running(machine: Machine) -> Mapping[str, Any] | None:
    """Return the containerd that runs on a machine."""
    return next((memory for memory in machine.memories() if memory.get("program") == "containerd"), None)


def runtime_handlers(server: Mapping[str, Any]) -> list[str] | None:
    """Return the names in CRI's Status.runtime_handlers, `""` for the default; None for 1.x, which has no such field.

    Source: containerd v2.0.5 internal/cri/server/service.go (initRuntimeHandlers), status.go.
    """
    if server["version"].startswith("1.") or server["cri_error"] is not None:
        return None
    return ["", *sorted(server["handlers"])]


def network_ready(machine: Machine, server: Mapping[str, Any]) -> bool:
    """Return whether CRI has a network: whether there is a CNI configuration in its folder.

    Source: containerd internal/cri/server/status.go; containerd/go-cni opts.go (*.conf, *.conflist, *.json).
    """
    cri = server["config"]["plugins"]
    folder = cri[RUNTIME_V3 if RUNTIME_V3 in cri else CRI_V2]["cni"]["conf_dir"]
    return any(machine.disk.listing(folder, pattern) for pattern in ("*.conf", "*.conflist", "*.json"))


def info(server: Mapping[str, Any], network: bool) -> dict[str, Any]:  # noqa: FBT001 - a fact, not a switch
    """Return what `crictl info` prints.

    Source: containerd internal/cri/server/status.go and the JSON names in internal/cri/config.
    """
    handlers = {name: _handler_json(handler) for name, handler in server["handlers"].items()}
    document: dict[str, Any] = {
        "status": {
            "conditions": [
                {"message": "", "reason": "", "status": True, "type": "RuntimeReady"},
                {
                    "message": "" if network else "Network plugin returns error: cni plugin not initialized",
                    "reason": "" if network else "NetworkPluginNotReady",
                    "status": network,
                    "type": "NetworkReady",
                },
            ]
        },
        "config": {"containerd": {"defaultRuntimeName": server["default_handler"], "runtimes": handlers}},
        "lastCNILoadStatus": "OK" if network else "cni config load failed: no network config found",
    }
    names = runtime_handlers(server)
    if names is None:
        document["config"]["sandboxImage"] = server["pause_image"]
    else:
        document["runtimeHandlers"] = [{"features": {}, "name": name} if name else {"features": {}} for name in names]
    return document


def _handler_json(handler: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "runtime_type": "runtimeType",
        "runtime_path": "runtimePath",
        "pod_annotations": "PodAnnotations",
        "container_annotations": "ContainerAnnotations",
        "base_runtime_spec": "baseRuntimeSpec",
        "cni_conf_dir": "cniConfDir",
        "cni_max_conf_num": "cniMaxConfNum",
        "sandbox_mode": "sandboxMode",
        "cgroup_writable": "cgroupWritable",
    }
    empty = {
        "runtimeType": "",
        "runtimePath": "",
        "PodAnnotations": None,
        "ContainerAnnotations": None,
        "options": None,
    }
    return {**empty, **{names.get(key, key): value for key, value in handler.items()}}


def _crictl_failed(machine: Machine, code: str, words: str) -> Completed:
    text = (
        f'validate service connection: validate CRI v1 runtime API for endpoint \\"{_ENDPOINT}\\": '
        f"rpc error: code = {code} desc = {words}"
    )
    return Completed(1, b"", f"{_log_line(machine, 'fatal', text)}\n".encode())


def _package(version: str) -> str:
    return "github.com/containerd/containerd" if version.startswith("1.") else "github.com/containerd/containerd/v2"


def _version_line(release: Release) -> str:
    return f"containerd {_package(release.version)} v{release.version} simulated"


def _printed(text: str) -> Completed:
    return Completed(0, f"{text}\n".encode(), b"")


def _log_line(machine: Machine, level: str, text: str) -> str:
    return f'time="{machine.clock.text()}" level={level} msg="{text}"'


class _Log:
    """A service's log file; without --log-file what it logs goes nowhere."""

    def __init__(self, machine: Machine, path: str | None) -> None:
        self._machine = machine
        self._path = path

    def write(self, level: str, text: str) -> None:
        """Log a line in logrus' form."""
        self.raw(_log_line(self._machine, level, text))

    def raw(self, text: str) -> None:
        """Write a line as it is."""
        if self._path is not None:
            self._machine.disk.append(self._path, f"{text}\n")


def _plain(value: Any) -> Any:
    """Return mappings as plain dicts, so that they can be written."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
