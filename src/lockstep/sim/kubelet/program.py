"""kubelet.exe of a simulated node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.catalog.kubernetes import Minor, minor
from lockstep.sim.containerd.program import network_ready, running, runtime_handlers
from lockstep.sim.disk import DiskError
from lockstep.sim.engine import Completed
from lockstep.sim.kubelet import configuration, node
from lockstep.sim.kubelet.arguments import KubeletError, node_labels, parse
from lockstep.sim.kubelet.joining import check_access, check_providers, join
from lockstep.sim.machine import ExitError, Machine

_PRIORITY_CLASSES = ("IDLE", "BELOW_NORMAL", "NORMAL", "ABOVE_NORMAL", "HIGH", "REALTIME")
_PIPE = "npipe:////./pipe/containerd-containerd"
_DROPINS = (1, 30)


class Kubelet:
    """kubelet.exe of one version."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._minor: Minor = minor(version)

    def run(self, machine: Machine, arguments: list[str]) -> Completed:  # noqa: ARG002 (every program gets the machine)
        """`--version`."""
        try:
            flags = parse(arguments, self._minor)
        except KubeletError as error:
            return Completed(1, b"", f"E kubelet: {error.words}\n".encode())
        if "version" in flags:
            return Completed(0, f"Kubernetes v{self._version}\n".encode(), b"")
        return Completed(1, b"", b"kubelet: the simulated node runs kubelet.exe as a service and --version only\n")

    def serve(self, machine: Machine, arguments: list[str]) -> Mapping[str, Any]:
        """Come up as a service and, with a cluster, register the Node; raises ExitError."""
        try:
            return self._serve(machine, arguments)
        except KubeletError as error:
            raise ExitError(1, f"kubelet: {error.words}", before_ready=error.before_ready) from None

    def _serve(self, machine: Machine, arguments: list[str]) -> Mapping[str, Any]:
        flags = parse(arguments, self._minor)
        labels = node_labels(flags)
        values: dict[str, Any] = {}
        warnings: list[str] = []
        if flags.get("config"):
            values, warnings = configuration.decode(_read(machine, flags["config"]), flags["config"], self._minor)
        if flags.get("config-dir"):
            values, more = self._with_dropins(machine, values, flags["config-dir"])
            warnings += more
        values = configuration.overridden(values, flags, self._minor)
        warnings += configuration.check(values, self._minor)
        priority = flags.get("windows-priorityclass", "NORMAL_PRIORITY_CLASS")
        if priority not in [f"{name}_PRIORITY_CLASS" for name in _PRIORITY_CLASSES]:
            raise KubeletError(f"unknown priority class {priority}")
        native = flags.get("windows-service", "false").lower() in ("true", "1", "t")
        if machine.under_service_manager and not native:
            raise KubeletError("without --windows-service kubelet does not speak to the service manager")
        joined = join(machine, flags)
        check_access(machine, values, joined=joined)
        containerd = self._connect(machine, values["containerRuntimeEndpoint"])
        self._managers(values)
        check_providers(machine, flags)
        name = flags.get("hostname-override") or machine.facts.name.lower()
        now = machine.clock.text()
        if joined and values["registerNode"]:
            taints = values.get("registerWithTaints", [])
            existing = machine.cluster.get(name)
            document = node.registered(existing, name, machine.facts, labels=labels, taints=taints, now=now)
            tells = node.Running(
                kubelet=self._version,
                containerd=containerd["version"],
                handlers=self._handlers(values, containerd),
                max_pods=values["maxPods"],
                network_ready=network_ready(machine, containerd),
                hardware=machine.hardware,
            )
            document["status"] = node.status(machine.facts, tells, now)
            machine.cluster.put(document)
        return {
            "program": "kubelet",
            "version": self._version,
            "node": name if joined else None,
            "flags": flags,
            "configuration": values,
            "warnings": warnings,
        }

    def _with_dropins(self, machine: Machine, values: dict[str, Any], folder: str) -> tuple[dict[str, Any], list[str]]:
        """Return the fields after the drop-ins of --config-dir, and what kubelet logs of them.

        Source: kubernetes v1.29.15 and v1.36.1 cmd/kubelet/app/server.go, mergeKubeletConfigurations.
        """
        if self._minor.number < _DROPINS:
            raise KubeletError(
                f"flag {folder} specified but environment variable KUBELET_CONFIG_DROPIN_DIR_ALPHA not set, "
                "cannot start kubelet"
            )
        if not machine.disk.is_folder(folder):
            raise KubeletError(
                f'failed to merge kubelet configs: failed to walk through kubelet dropin directory "{folder}"'
            )
        warnings = []
        for path in machine.disk.listing(folder, "*.conf"):
            part, more = configuration.decode(_read(machine, path), path, self._minor)
            values = configuration.merge_patch(values, part)
            warnings += more
        return values, warnings

    def _managers(self, values: Mapping[str, Any]) -> None:
        """Make the resource managers, as a running service. Source: pkg/kubelet/cm/container_manager_windows.go."""
        on = self._gate(values, "WindowsCPUAndMemoryAffinity")
        if on and values.get("memoryManagerPolicy") == "Static":
            raise KubeletError('policy "Static" is not available on Windows', before_ready=False)

    def _connect(self, machine: Machine, endpoint: str) -> Mapping[str, Any]:
        """Return the containerd behind an endpoint; kubelet is a running service by then, and ends without one.

        Source: kubernetes v1.36.1 pkg/kubelet/kubelet.go (PreInitRuntimeService); cri-client pkg/remote_runtime.go.
        """
        containerd = running(machine)
        where = f'validate service connection: validate CRI v1 runtime API for endpoint "{endpoint}": rpc error: code'
        if endpoint.replace("\\", "/") != _PIPE or containerd is None:
            raise KubeletError(f"{where} = Unavailable desc = connection error", before_ready=False)
        if containerd["cri_error"] is not None:
            raise KubeletError(
                f"{where} = Unimplemented desc = unknown service runtime.v1.RuntimeService", before_ready=False
            )
        return containerd

    def _handlers(self, values: Mapping[str, Any], containerd: Mapping[str, Any]) -> list[str] | None:
        """Return the handlers that kubelet reports; None where it reports none.

        Source: kubernetes pkg/kubelet/nodestatus/setters.go, RuntimeHandlers.
        """
        on = any(self._gate(values, gate) for gate in ("RecursiveReadOnlyMounts", "UserNamespacesSupport"))
        return runtime_handlers(containerd) if on else None

    def _gate(self, values: Mapping[str, Any], name: str) -> bool:
        return bool(values.get("featureGates", {}).get(name, self._minor.gates.get(name, False)))


def _read(machine: Machine, path: str) -> bytes:
    words = f"failed to load kubelet config file, path: {path}, error: failed to load Kubelet config file {path}, error"
    try:
        data = machine.disk.read(path)
    except DiskError as error:
        raise KubeletError(f"{words} {error.message}") from None
    if data is None:
        raise KubeletError(
            f'{words} failed to read kubelet config file "{path}", error: open {path}: '
            "The system cannot find the file specified."
        )
    return data
