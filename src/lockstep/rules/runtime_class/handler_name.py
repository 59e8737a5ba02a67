"""A handler that the API server refuses."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.k8s.names import dns_label_problem
from lockstep.rules.given.runtime_class import RuntimeClassManifest

RULE = "LW503"


def find(item: RuntimeClassManifest) -> Iterator[Finding]:
    """Yield a finding where the handler is missing, no text or no DNS label.

    Source: kubernetes/kubernetes pkg/apis/node/validation, ValidateRuntimeClass.
    """
    if "handler" not in item.data:
        message = "a RuntimeClass needs a handler, the name of a section in containerd's configuration"
        yield item.error(RULE, ("handler",), message, fix="write handler: runhcs-wcow-process")
    elif not isinstance(item.data["handler"], str):
        yield item.error(RULE, ("handler",), "the handler is no text", fix="put it in quotes")
    elif problem := dns_label_problem(item.handler):
        yield item.error(RULE, ("handler",), f"the API server refuses this handler: {problem}")
