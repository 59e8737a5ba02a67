"""CredentialProviderConfig: programs that kubelet asks for the credentials of an image's registry.

Source: kubernetes/kubelet config/v1/types.go, config/v1beta1/types.go; kubernetes/kubernetes
pkg/credentialprovider/plugin/{config,plugin}.go (what ends kubelet while it starts).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from lockstep.catalog.data import load
from lockstep.catalog.kubernetes import Minor
from lockstep.kubelet import yaml_text
from lockstep.kubelet.fields import duration
from lockstep.words import MASK, nearest

_FIELDS = (
    "name",
    "matchImages",
    "defaultCacheDuration",
    "apiVersion",
    "args",
    "env",
    "tokenAttributes",
)
_NEEDED = ("name", "matchImages", "defaultCacheDuration")
_GATE = "KubeletServiceAccountTokenForCredentialProviders"
_IMAGE = re.compile(r"[A-Za-z0-9*.-]+(?::[0-9]+)?(?:/\S*)?")


def api_version(facts: Minor) -> str:
    """Return v1beta1 or v1: what this minor's kubelet and its providers speak at best."""
    return _versions(facts)[-1]


def render(providers: Sequence[Mapping[str, Any]], facts: Minor) -> bytes:
    """Return the file for these providers; an `apiVersion` that one does not have is the minor's best."""
    document = {
        "apiVersion": f"kubelet.config.k8s.io/{api_version(facts)}",
        "kind": "CredentialProviderConfig",
        "providers": [_provider(each, facts) for each in providers],
    }
    lines = [line for name, value in document.items() for line in yaml_text.entry(name, value, 0, 0)]
    return ("\n".join(lines) + "\n").encode()


def masked(providers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the same providers with the values of their environment variables masked."""
    return [
        {
            name: [{**variable, "value": MASK} for variable in value] if name == "env" and value else value
            for name, value in each.items()
        }
        for each in providers
    ]


def shown(content: bytes) -> str:
    """Return a file for people to see: the values of its environment variables masked, wholly where it is no YAML."""
    try:
        document = yaml.safe_load(content)
        each = document["providers"]
        return yaml.safe_dump({**document, "providers": masked(each)}, sort_keys=False)
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, KeyError, AttributeError):
        return f"# Not shown: it is no CredentialProviderConfig.\n{MASK}\n"


def problems(providers: Sequence[Mapping[str, Any]], facts: Minor, gates: Mapping[str, Any]) -> Iterator[str]:
    """Yield what would end kubelet while it starts, each with the place it is at."""
    names: set[str] = set()
    for index, each in enumerate(providers):
        where = f"credential_providers[{index}]"
        for field in each:
            if field not in _FIELDS:
                near = nearest(field, _FIELDS)
                yield f"{where}.{field}: there is no such field" + (f"; did you mean '{near}'?" if near else "")
        for field in _NEEDED:
            if not each.get(field):
                yield f"{where}.{field}: it is needed"
        yield from _values(each, where, facts, gates)
        name = each.get("name")
        if name in names:
            yield f"{where}.name: '{name}' is there twice"
        names.add(str(name))


def _values(each: Mapping[str, Any], where: str, facts: Minor, gates: Mapping[str, Any]) -> Iterator[str]:
    name = each.get("name")
    if name and (not isinstance(name, str) or re.search(r"[/\\\s]", name) or name in (".", "..")):
        yield f"{where}.name: '{name}' is no file's name: expected the provider's program without .exe"
    images = each.get("matchImages")
    if images and not isinstance(images, list):
        yield f"{where}.matchImages: expected a list"
    for image in images if isinstance(images, list) else ():
        if not isinstance(image, str) or not _IMAGE.fullmatch(image):
            yield f"{where}.matchImages: '{image}' matches no image: expected one such as *.azurecr.io, without https://"
    cache = each.get("defaultCacheDuration")
    seconds = duration(cache)
    if cache and (seconds is None or seconds < 0):
        yield f"{where}.defaultCacheDuration: '{cache}' is no duration: expected one such as 12h, in text"
    known = [f"credentialprovider.kubelet.k8s.io/{version}" for version in _versions(facts)]
    if each.get("apiVersion") and each["apiVersion"] not in known:
        yield f"{where}.apiVersion: '{each['apiVersion']}': expected {' or '.join(known)}"
    for position, variable in enumerate(each.get("env") or ()):
        if not isinstance(variable, Mapping) or not {"name", "value"} >= variable.keys() >= {"name"}:
            yield f"{where}.env[{position}]: expected name and value"
    if each.get("tokenAttributes") and not bool(gates.get(_GATE, facts.gates.get(_GATE, False))):
        yield f"{where}.tokenAttributes: kubelet {facts.name} takes it only with the feature gate {_GATE}"


def _versions(facts: Minor) -> tuple[str, ...]:
    versions: Mapping[str, str] = load("kubelet-service")["credential_providers"]["versions"]
    return tuple(each for since, each in versions.items() if tuple(map(int, since.split("."))) <= facts.number)


def _provider(each: Mapping[str, Any], facts: Minor) -> dict[str, Any]:
    version = {"apiVersion": f"credentialprovider.kubelet.k8s.io/{api_version(facts)}"}
    given = {name: each[name] for name in _FIELDS if each.get(name) is not None}
    return {name: (version | given)[name] for name in _FIELDS if name in version | given}
