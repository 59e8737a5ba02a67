"""A handler that no RuntimeClass can name."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding
from lockstep.k8s.names import dns_label_problem
from lockstep.rules.given.config_toml import ConfigToml

RULE = "LW433"


def find(config: ConfigToml) -> Iterator[Finding]:
    """Yield each handler whose name is no DNS label. Source: kubernetes/kubernetes pkg/apis/node/validation."""
    for handler in config.handlers:
        if problem := dns_label_problem(handler.name):
            message = f"no RuntimeClass can name this handler: {problem}"
            yield config.warning(RULE, handler.path, message, fix="give it another name", at_key=True)
