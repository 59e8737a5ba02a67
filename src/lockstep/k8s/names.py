"""DNS names as Kubernetes uses them for objects and handlers.

Source: k8s.io/apimachinery pkg/util/validation `IsDNS1123Label`, `IsDNS1123Subdomain`.
"""

from __future__ import annotations

import re

from lockstep.words import shortened

LABEL_LENGTH = 63
SUBDOMAIN_LENGTH = 253

_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"{_LABEL.pattern}(?:\.{_LABEL.pattern})*")
_LABEL_RULE = "lower-case letters, digits and '-', with a letter or digit at both ends"
_SUBDOMAIN_RULE = "lower-case letters, digits, '-' and '.', with a letter or digit at both ends of each part"


def dns_label_problem(text: str) -> str | None:
    """Return why `text` is no DNS label (a handler's name must be one), or None where it is."""
    if _LABEL.fullmatch(text):
        return _too_long(text, LABEL_LENGTH)
    return _malformed(text, "DNS label", _LABEL_RULE)


def dns_subdomain_problem(text: str) -> str | None:
    """Return why `text` is no DNS subdomain (an object's name must be one), or None where it is."""
    if _SUBDOMAIN.fullmatch(text):
        return _too_long(text, SUBDOMAIN_LENGTH)
    return _malformed(text, "DNS subdomain", _SUBDOMAIN_RULE)


def _malformed(text: str, what: str, rule: str) -> str:
    nearest = re.sub(r"[^a-z0-9.]+" if what == "DNS subdomain" else r"[^a-z0-9]+", "-", text.lower()).strip("-.")
    valid = _SUBDOMAIN if what == "DNS subdomain" else _LABEL
    example = f", such as '{nearest}'" if valid.fullmatch(nearest) and len(nearest) <= LABEL_LENGTH else ""
    return f"'{shortened(text)}' is no {what}: expected {rule}{example}"


def _too_long(text: str, limit: int) -> str | None:
    return f"'{shortened(text)}' has {len(text)} characters: expected {limit} at most" if len(text) > limit else None
