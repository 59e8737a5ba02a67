"""A RuntimeClass without a name that the API server takes."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.k8s.names import dns_subdomain_problem
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW502"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding where metadata.name is missing or no DNS subdomain.

    Source: kubernetes/kubernetes pkg/apis/node/validation, ValidateRuntimeClass.
    """
    metadata = item.mapping("metadata")
    if "generateName" in metadata and "name" not in metadata:
        return
    problem = dns_subdomain_problem(item.name) if item.name else "it needs a name that is text"
    if problem:
        message = f"the API server refuses this RuntimeClass: {problem}"
        yield item.error(RULE, ("metadata", "name"), message, fix="write a name such as windows-2022")
