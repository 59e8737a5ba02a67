"""Windows on a node as a whole: what is asked of it, and the steps from what it is to what it is to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lockstep.node.operations import Operation, read_machine, read_service, read_system, read_transaction
from lockstep.windows import clock, features, firewall, folders, guards, pagefile, path, registry
from lockstep.windows.aspect import Aspect, Change, Observed
from lockstep.windows.settings import HostSettings

TRANSACTION = "windows-host"
NEW_NAME = "the computer's new name"
SYSTEM, MACHINE, JOURNAL = read_system(), read_machine(), read_transaction(TRANSACTION)
WINRM, CONTAINERD = read_service("WinRM"), read_service("containerd")


@dataclass(frozen=True, slots=True)
class HostPlan:
    """A node compared with its settings. Windows features come last: they alone stay when all else is taken back."""

    aspects: Sequence[Aspect]

    @property
    def changes(self) -> list[Change]:
        """All steps, in order."""
        return [change for aspect in self.aspects for change in aspect.changes]

    @property
    def different(self) -> list[Aspect]:
        """The aspects that something is to be done about."""
        return [aspect for aspect in self.aspects if aspect.changes]

    @property
    def warnings(self) -> list[str]:
        """What people should know."""
        return [text for aspect in self.aspects for text in aspect.warnings]


def operations(settings: HostSettings) -> list[Operation]:
    """Return what is asked of a node, in one request; the same for the same settings, in the same order."""
    values = [*settings.values, *clock.values(settings.time_servers)]
    return [
        SYSTEM,
        MACHINE,
        JOURNAL,
        features.reading(settings.features),
        pagefile.CONFIGURED,
        pagefile.OPENED,
        path.READING,
        *(value.reading for value in values),
        *(folder.reading for folder in settings.folders),
        *firewall.reading(settings.firewall),
        guards.DEFENDER,
        guards.POWER,
        clock.READING,
        WINRM,
        CONTAINERD,
        read_service(settings.kubelet_service),
    ]


def compare(settings: HostSettings, observed: Observed) -> HostPlan:
    """Return what is to be done on the node that answered this."""
    return HostPlan(
        [
            registry.compare("registry", settings.values, observed),
            pagefile.compare(observed, wanted=settings.pagefile),
            folders.compare(settings.folders, observed),
            path.compare(settings.path, observed),
            firewall.compare(settings.firewall, observed),
            guards.exclusions(settings.defender_processes, settings.defender_paths, observed),
            guards.power(settings.power_scheme, observed),
            clock.compare(settings.time_servers, observed, managed=settings.time_service),
            features.compare(settings.features, settings.feature_source, observed),
        ]
    )


def restart_reasons(settings: HostSettings, observed: Observed) -> list[str]:
    """Return what works after a restart of Windows only, and was changed before."""
    reasons = [f"feature {name}" for name in features.waiting(settings.features, observed)]
    if settings.pagefile and pagefile.waiting(observed):
        reasons.append(pagefile.RESTART)
    # kubelet would register its node by the old name, and by the new one after the next restart.
    if "computer_name" in observed(MACHINE)["reboot_pending"]:
        reasons.append(NEW_NAME)
    return reasons


def kubelet_runs(settings: HostSettings, observed: Observed) -> bool:
    """Return whether kubelet runs, and perhaps pods that a restart of Windows would end."""
    found = observed(read_service(settings.kubelet_service))
    return bool(found["exists"]) and found["state"] == "running"


def containers_run(settings: HostSettings, observed: Observed) -> bool:
    """Return whether this is a node that runs containers: images have used its disk then.

    The feature alone does not tell: images of Windows for containers have it, and so has a node whose first run failed.
    """
    return any(observed(asked)["exists"] for asked in (CONTAINERD, read_service(settings.kubelet_service)))


def blocks_features(settings: HostSettings, observed: Observed) -> bool:
    """Return whether Windows has to complete an earlier change of its components before features can be installed."""
    pending = "component_servicing" in observed(MACHINE)["reboot_pending"]
    installs = features.compare(settings.features, settings.feature_source, observed).changes
    return pending and bool(installs)
