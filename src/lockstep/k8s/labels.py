"""Label and annotation keys, label values, and the labels that a kubelet may give its own node.

Sources: k8s.io/apimachinery pkg/util/validation `IsQualifiedName`, `IsValidLabelValue` and pkg/api/validation
`ValidateAnnotations`; kubernetes/kubernetes cmd/kubelet/app/options `ValidateKubeletFlags` with
staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go (NodeRestriction refuses the same).
"""

from __future__ import annotations

import re

from lockstep.k8s.names import LABEL_LENGTH, dns_subdomain_problem
from lockstep.words import shortened

OS = "kubernetes.io/os"
ARCH = "kubernetes.io/arch"
HOSTNAME = "kubernetes.io/hostname"
WINDOWS_BUILD = "node.kubernetes.io/windows-build"

SET_BY_KUBELET = frozenset(
    {OS, ARCH, HOSTNAME, WINDOWS_BUILD, "beta.kubernetes.io/os", "beta.kubernetes.io/arch"},
)
"""Labels that every kubelet on Windows writes itself, whatever `--node-labels` says."""

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_NAME_RULE = "letters, digits, '-', '_' and '.', with a letter or digit at both ends"
_KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")
_KUBELET_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_KUBELET_KEYS = frozenset(
    {
        HOSTNAME,
        OS,
        ARCH,
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    },
)


def key_problem(key: str) -> str | None:
    """Return why `key` is no label key (a taint's key follows the same rule), or None where it is."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return f"'{shortened(key)}' has more than one '/': expected a name, or a DNS subdomain, '/' and a name"
    if slash and (problem := dns_subdomain_problem(prefix)):
        return f"the prefix of '{shortened(key)}' is wrong: {problem}"
    if len(name) > LABEL_LENGTH:
        return f"the name in '{shortened(key)}' has {len(name)} characters: expected {LABEL_LENGTH} at most"
    if not _NAME.fullmatch(name):
        expected = f"{_NAME_RULE}, after a DNS subdomain and '/' where it has a prefix"
        return f"'{shortened(key)}' is no label key: expected {expected}"
    return None


def annotation_key_problem(key: str) -> str | None:
    """Return why `key` is no annotation key, or None; unlike a label's, its prefix may have capital letters."""
    return key_problem(key.lower())


def value_problem(value: str) -> str | None:
    """Return why `value` is no label value (a taint's value follows the same rule), or None; it may be empty."""
    if len(value) > LABEL_LENGTH:
        return f"'{shortened(value)}' has {len(value)} characters: expected {LABEL_LENGTH} at most"
    if value and not _NAME.fullmatch(value):
        return f"'{shortened(value)}' is no label value: expected {_NAME_RULE}, or nothing"
    return None


def namespace(key: str) -> str:
    """Return a key's prefix without the slash, empty where it has none."""
    return key.rpartition("/")[0]


def within(key: str, *domains: str) -> bool:
    """Return whether a key's prefix is one of the domains or below one."""
    prefix = namespace(key)
    return any(prefix == domain or prefix.endswith(f".{domain}") for domain in domains)


def kubelet_label_problem(key: str) -> str | None:
    """Return why a kubelet refuses to start with this key in `--node-labels`, or None where it takes it."""
    if not within(key, *_KUBERNETES_DOMAINS) or key in _KUBELET_KEYS or within(key, *_KUBELET_NAMESPACES):
        return None
    return (
        f"kubelet may not set '{shortened(key)}' on its own node: expected another domain, or of kubernetes.io and "
        f"k8s.io only {', '.join(f'{name}/' for name in _KUBELET_NAMESPACES)} or a few well-known keys"
    )
