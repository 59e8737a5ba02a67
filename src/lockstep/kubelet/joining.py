"""kubelet with a cluster and without one: what each needs in file and flags.

Source: kubernetes/kubernetes v1.36.1 cmd/kubelet/app/server.go `run` (without --kubeconfig kubelet is standalone, has
no client and registers nothing) and cmd/kubelet/app/auth.go `BuildAuthn`, `BuildAuthz` (webhooks, which are the
defaults, stop a kubelet without a client).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from lockstep.words import MASK

KUBECONFIG, BOOTSTRAP_KUBECONFIG = "kubeconfig", "bootstrap-kubeconfig"

STANDALONE: Mapping[str, Any] = {
    "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": False}},
    "authorization": {"mode": "AlwaysAllow"},
}
"""Nobody can authenticate, so that nobody is let in although everything is allowed."""
JOINED: Mapping[str, Any] = {
    "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True}},
    "authorization": {"mode": "Webhook"},
}
_SECRETS = frozenset({"token", "password", "client-key-data"})
"""Keys of a kubeconfig. Source: kubernetes/client-go tools/clientcmd/api/v1/types.go, AuthInfo."""


def needs_client(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the planned fields with which a kubelet without a cluster does not start, each as `field: value`."""
    webhook = _at(fields, "authentication", "webhook", "enabled")
    if webhook is True:
        yield "authentication.webhook.enabled: true"
    mode = _at(fields, "authorization", "mode")
    if mode == "Webhook":
        yield "authorization.mode: Webhook"


def is_standalone(fields: Mapping[str, Any]) -> bool:
    """Return whether a file has what a kubelet without a cluster was given."""
    return (
        _at(fields, "authentication", "webhook", "enabled") is False
        and _at(fields, "authentication", "anonymous", "enabled") is not True
        and _at(fields, "authorization", "mode") == "AlwaysAllow"
    )


def client_ca_of(fields: Mapping[str, Any]) -> str | None:
    """Return the file whose certificates kubelet trusts its clients by, if the fields name one."""
    found = _at(fields, "authentication", "x509", "clientCAFile")
    return found if isinstance(found, str) and found else None


def kubeconfig_problem(text: str) -> str | None:
    """Return why a text is no kubeconfig to bootstrap with, or None; the answer says nothing of what is in it."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError:
        return "it is not YAML"
    if not isinstance(document, Mapping) or document.get("kind") != "Config":
        return "it is no kubeconfig: expected kind: Config"
    missing = [key for key in ("clusters", "contexts", "users", "current-context") if not document.get(key)]
    return f"it has no {', '.join(missing)}" if missing else None


def certificates_problem(text: str) -> str | None:
    """Return why a text is no bundle of certificates in PEM, or None."""
    if "PRIVATE KEY-----" in text:
        return "it holds a private key: give the CA's certificate alone"
    begins, ends = (text.count(f"-----{word} CERTIFICATE-----") for word in ("BEGIN", "END"))
    if not begins or begins != ends:
        return "it is no certificate in PEM: expected -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----"
    return None


def shown_kubeconfig(text: str) -> str:
    """Return a kubeconfig for people to see, with every secret masked; empty for one that cannot be read."""
    try:
        return yaml.safe_dump(_masked(yaml.safe_load(text)), sort_keys=False)
    except yaml.YAMLError:
        return ""


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return both sets of fields; where they meet, `over` counts."""
    result = dict(under)
    for name, value in over.items():
        below = result.get(name)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            result[name] = merged(below, value)
        else:
            result[name] = value
    return result


def _masked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: MASK if key in _SECRETS else _hidden(key, item) for key, item in value.items()}
    return [_masked(item) for item in value] if isinstance(value, list) else value


def _hidden(key: Any, value: Any) -> Any:
    """Return a value masked; the variables and parameters of a program that gives credentials may be any secret."""
    if key in ("env", "config") and value:
        return MASK
    return _masked(value)


def _at(fields: Any, *path: str) -> Any:
    for name in path:
        fields = fields.get(name) if isinstance(fields, Mapping) else None
    return fields
