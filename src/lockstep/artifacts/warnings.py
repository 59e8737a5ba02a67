"""What is questionable about the releases that a task puts on a node, though it can be done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lockstep.artifacts.changes import Change
from lockstep.artifacts.observed import Observed
from lockstep.artifacts.uses import elsewhere
from lockstep.catalog.artifacts import default_version
from lockstep.catalog.containerd import UnknownSeries, series
from lockstep.catalog.data import known_until
from lockstep.catalog.kubernetes import UnknownMinor, minor
from lockstep.catalog.versions import Version, VersionError

_KUBERNETES = ("kubelet", "kubeadm", "kube-proxy", "kube-log-runner")


def warnings(observed: Observed, changes: Sequence[Change]) -> tuple[str, ...]:
    """Return one sentence for each: releases without support, that do not go together, or that go back."""
    versions = {change.wanted.name: change.wanted.version for change in changes}
    return (
        *_ended(versions.get("containerd")),
        *_pair(versions.get("kubelet"), versions.get("containerd")),
        *_apart(versions),
        *_back(changes),
        *_elsewhere(observed, changes),
    )


def _ended(containerd: str | None) -> Iterator[str]:
    try:
        found = series(containerd) if containerd else None
    except UnknownSeries as error:
        yield str(error)
        return
    except VersionError:
        return
    if found and found.ends and found.ends < known_until():
        yield f"support of containerd {found.name} ended on {found.ends}"


def _pair(kubelet: str | None, containerd: str | None) -> Iterator[str]:
    """Yield a warning where containerd's own table leaves the pair out, as `lockstep check` does for a pool."""
    if not kubelet or not containerd:
        return
    try:
        found, release = minor(kubelet), Version.parse(containerd)
        listed = [Version.parse(entry) for entry in found.containerd]
    except (UnknownMinor, VersionError):
        return
    of_series = [entry for entry in listed if entry.minor_text == release.minor_text]
    works = any(entry <= release for entry in of_series) if of_series else not listed or release > max(listed)
    if not works:
        least = ", ".join(f"{entry.minor_text} from {entry}" for entry in listed)
        yield f"containerd {containerd} is not supported with Kubernetes {found.name}: expected {least}"


def _apart(versions: dict[str, str]) -> Iterator[str]:
    kubelet = versions.get("kubelet")
    if kubelet is None:
        return
    for name in _KUBERNETES:
        if versions.get(name, kubelet) != kubelet:
            yield f"{name} {versions[name]} goes with kubelet {kubelet}: they are made for one release"
    crictl, best = versions.get("crictl"), default_version("crictl", versions)
    if crictl and best and _minor(crictl) != _minor(best):
        yield f"crictl {crictl} goes with kubelet {kubelet}: its project asks for the same minor, {best}"


def _back(changes: Sequence[Change]) -> Iterator[str]:
    for change in changes:
        before, after = _parsed(change.from_version), _parsed(change.wanted.version)
        if change.action == "upgraded" and before and after and after < before:
            yield f"{change.wanted.name} goes back from {change.from_version} to {change.wanted.version}"


def _elsewhere(observed: Observed, changes: Sequence[Change]) -> Iterator[str]:
    """Yield the services whose program is not the one that this task puts in place."""
    for change in changes:
        for kind, service in observed.services.items():
            if elsewhere(service, kind, change.wanted):
                yield f"service {service.name} keeps its own program, which is elsewhere: {service.command_line}"


def _minor(version: str) -> str | None:
    parsed = _parsed(version)
    return parsed.minor_text if parsed else None


def _parsed(version: str | None) -> Version | None:
    try:
        return Version.parse(version) if version else None
    except VersionError:
        return None
