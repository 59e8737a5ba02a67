"""A selector's label that the API server refuses, or that no kubelet sets."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.k8s.labels import ARCH, HOSTNAME, OS, WINDOWS_BUILD, key_problem, namespace, value_problem, within
from lockstep.rules.given.runtime_class import RuntimeClassManifest
from lockstep.words import nearest

RULE = "LW510"

_WELL_KNOWN = (
    OS,
    ARCH,
    HOSTNAME,
    WINDOWS_BUILD,
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)
_BY_NAME = {"windows-build": WINDOWS_BUILD, "windows-version": WINDOWS_BUILD, "os-version": WINDOWS_BUILD, "os": OS}
_OTHERS = ("beta.kubernetes.io", "failure-domain.beta.kubernetes.io")


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield each label that is no label, and each that is nearly one of those that kubelet sets.

    Source: k8s.io/apimachinery validation; Kubernetes documentation, "Well-Known Labels, Annotations and Taints".
    """
    for key, value in item.selector.items():
        path = ("scheduling", "nodeSelector", key)
        if problem := key_problem(key):
            yield item.error(RULE, path, f"the API server refuses this selector: {problem}", at_key=True)
        elif problem := value_problem(value):
            yield item.error(RULE, path, f"the API server refuses this selector: {problem}")
        elif item.for_windows and (meant := _meant(key)):
            message = f"kubelet sets no label '{key}': unless something else does, pods of the class stay Pending"
            yield item.warning(RULE, path, message, hint=f"did you mean {meant}?", at_key=True)


def _meant(key: str) -> str | None:
    if key in _WELL_KNOWN or namespace(key) in _OTHERS:
        return None
    own = within(key, "kubernetes.io", "k8s.io") or not namespace(key)
    by_name = _BY_NAME.get(key.rpartition("/")[2]) if own else None
    return by_name or (nearest(key, _WELL_KNOWN) if within(key, "kubernetes.io") and _near(key) else None)


def _near(key: str) -> bool:
    return any(key.replace("-", "").lower() == known.replace("-", "").lower() for known in _WELL_KNOWN)
