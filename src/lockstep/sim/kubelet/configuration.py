"""KubeletConfiguration: decoding, defaults, and the rules that stop kubelet on Windows.

Sources: kubernetes v1.29.15 and v1.36.1 pkg/kubelet/apis/config/validation/{validation,validation_windows}.go,
pkg/kubelet/apis/config/v1beta1/defaults.go, pkg/kubelet/kubeletconfig/{configfiles,util/codec}.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from lockstep.catalog.kubernetes import Minor
from lockstep.sim.kubelet.arguments import KubeletError, pairs

_API_VERSION = "kubelet.config.k8s.io/v1beta1"
_DEFAULTS: Mapping[str, Any] = {
    "cgroupsPerQOS": True,
    "enforceNodeAllocatable": ["pods"],
    "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
    "maxPods": 110,
    "imageGCHighThresholdPercent": 85,
    "imageGCLowThresholdPercent": 80,
    "containerLogMaxFiles": 5,
    "registerNode": True,
}
_ENFORCEMENTS = (
    "pods",
    "system-reserved",
    "system-reserved-compressible",
    "kube-reserved",
    "kube-reserved-compressible",
    "none",
)
_ALL_GATES = ("AllAlpha", "AllBeta")
_WARNS_ONLY = (1, 31)
"""The minor from which kubelet only warns of cgroups on Windows."""
_JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "bool": (bool,),
    "int": (int,),
    "number": (int, float),
    "duration": (str,),
    "quantity": (str, int, float),
}


def decode(data: bytes, path: str, minor: Minor) -> tuple[dict[str, Any], list[str]]:
    """Return the fields that a file sets, and what kubelet logs about it; raises KubeletError.

    A field that this minor does not know is dropped: strict decoding fails, lenient decoding goes on, one line is
    logged.
    """
    if not data:
        raise _loading(path, f'kubelet config file "{path}" was empty')
    try:
        document = yaml.safe_load(data.decode("utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _loading(path, f"failed to decode: yaml: {str(error).splitlines()[0]}") from None
    if not isinstance(document, dict) or document.get("kind") != "KubeletConfiguration":
        raise _loading(path, "failed to decode: Object 'Kind' is missing or is not KubeletConfiguration")
    if document.get("apiVersion") != _API_VERSION:
        version = document.get("apiVersion")
        raise _loading(path, f'failed to decode: no kind "KubeletConfiguration" is registered for version "{version}"')
    decoder = _Decoder(minor, path)
    values = decoder.fields(document, "KubeletConfiguration", "")
    values.pop("apiVersion", None)
    values.pop("kind", None)
    if not decoder.unknown:
        return values, []
    words = ", ".join(f'unknown field "{name}"' for name in decoder.unknown)
    return values, [f'"Using lenient decoding as strict decoding failed" err="strict decoding error: {words}"']


@dataclass(slots=True)
class _Decoder:
    """Keeps the fields that a minor knows; `unknown` names the others."""

    minor: Minor
    path: str
    unknown: list[str] = field(default_factory=list)

    def fields(self, document: Mapping[str, Any], kind: str, prefix: str) -> dict[str, Any]:
        """Return the known fields of a type; raises KubeletError for a value of another JSON type."""
        known, found = self.minor.types[kind], {}
        for key, value in document.items():
            # encoding/json finds a field whatever its case; that strict decoding says so is not fatal.
            name = next((entry for entry in known if entry.lower() == str(key).lower()), None)
            if name is None:
                self.unknown.append(f"{prefix}{key}")
                continue
            if value is None:
                continue
            type_ = known[name].type
            if type_ in self.minor.types and isinstance(value, dict):
                found[name] = self.fields(value, type_, f"{prefix}{name}.")
                continue
            allowed = _json_types(type_, self.minor)
            if allowed and (not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed)):
                what = f"cannot unmarshal {_json_name(value)} into Go struct field {kind}.{name} of type {type_}"
                raise _loading(self.path, f"failed to decode: json: {what}")
            found[name] = value
        return found


def _json_types(type_: str, minor: Minor) -> tuple[type, ...]:
    if type_.startswith("[]"):
        return (list,)
    if type_.startswith("map:") or type_ in minor.types:
        return (dict,)
    return _JSON_TYPES.get(type_, ())


def _json_name(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object" if isinstance(value, dict) else "number"


def _loading(path: str, words: str) -> KubeletError:
    return KubeletError(
        f"failed to load kubelet config file, path: {path}, "
        f"error: failed to load Kubelet config file {path}, error {words}"
    )


def merge_patch(base: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON merge patch applied: objects merge, everything else is replaced. Source: RFC 7396."""
    merged = dict(base)
    for key, value in patch.items():
        known = merged.get(key)
        merged[key] = merge_patch(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return merged


def overridden(values: Mapping[str, Any], flags: Mapping[str, str], minor: Minor) -> dict[str, Any]:
    """Return the fields after flags, which win, and defaults, which fill."""
    merged = {key: value for key, value in {**_DEFAULTS, **values}.items() if key in minor.fields}
    if not merged.get("containerRuntimeEndpoint", "?"):
        merged["containerRuntimeEndpoint"] = _DEFAULTS["containerRuntimeEndpoint"]
    for name, text in flags.items():
        flag = minor.flags.get(name)
        if flag is None or flag.field is None or "." in flag.field:
            continue
        value: Any = text
        if flag.type == "bool":
            value = text.lower() in ("true", "1", "t")
        elif flag.type == "int":
            value = int(text)
        elif flag.type == "list":
            value = [part for part in text.split(",") if part]
        elif flag.type == "map":
            value = pairs(text, name)
        merged[flag.field] = taints(text) if name == "register-with-taints" else value
    if not minor.endpoint_is_field:
        merged["containerRuntimeEndpoint"] = flags.get(
            "container-runtime-endpoint", "unix:///run/containerd/containerd.sock"
        )
    return merged


def taints(text: str) -> list[dict[str, str]]:
    """Return the taints of --register-with-taints, `key=value:effect` each."""
    found = []
    for part in filter(None, text.split(",")):
        key, _, effect = part.rpartition(":")
        name, _, value = key.partition("=")
        found.append({"key": name, "value": value, "effect": effect})
    return found


def check(values: Mapping[str, Any], minor: Minor) -> list[str]:
    """Return what kubelet warns of; raises KubeletError with everything that stops it before it is up."""
    errors = [*_windows(values, minor), *_everywhere(values), *_enforced(values)]
    if errors:
        listed = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
        raise KubeletError(f"failed to validate kubelet configuration, error: {listed}")
    if minor.number < _WARNS_ONLY:
        return []
    ignored = "ignored configuration option: {} ({}) {} is not supported on Windows"
    warnings = []
    if values.get("cgroupsPerQOS"):
        warnings.append(ignored.format("CgroupsPerQOS", "--cgroups-per-qos", "true"))
    enforced = [entry for entry in values.get("enforceNodeAllocatable", []) if entry != "none"]
    if enforced:
        listed = f"[{' '.join(enforced)}]"
        warnings.append(ignored.format("EnforceNodeAllocatable", "--enforce-node-allocatable", listed))
    return warnings


def _windows(values: Mapping[str, Any], minor: Minor) -> Iterator[str]:
    if minor.number < _WARNS_ONLY:
        refused = "invalid configuration: {} ({}) {} is not supported on Windows"
        if values.get("cgroupsPerQOS"):
            yield refused.format("CgroupsPerQOS", "--cgroups-per-qos", "true")
        if values.get("enforceNodeAllocatable"):
            listed = f"[{' '.join(values['enforceNodeAllocatable'])}]"
            yield refused.format("EnforceNodeAllocatable", "--enforce-node-allocatable", listed)
    for name in sorted(minor.fatal_on_windows):
        if name in values:
            yield f"invalid configuration: {name} is not supported on Windows"
    for gate, value in values.get("featureGates", {}).items():
        locked = minor.locked_gates.get(gate)
        if gate not in minor.gates and gate not in _ALL_GATES:
            yield f"unrecognized feature gate: {gate}"
        elif locked is not None and value is not locked:
            yield (
                f"cannot set feature gate {gate} to {str(value).lower()}, feature is locked to {str(locked).lower()}"
            )


def _everywhere(values: Mapping[str, Any]) -> Iterator[str]:
    low, high = values["imageGCLowThresholdPercent"], values["imageGCHighThresholdPercent"]
    if low >= high:
        yield (
            f"invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) {low} must be less than "
            f"imageGCHighThresholdPercent (--image-gc-high-threshold) {high}"
        )
    if not values["containerRuntimeEndpoint"]:
        yield "invalid configuration: the containerRuntimeEndpoint was not specified or empty"
    if values["containerLogMaxFiles"] <= 1:
        yield "invalid configuration: containerLogMaxFiles must be greater than 1"
    if values.get("enableSystemLogQuery") and not values.get("enableSystemLogHandler"):
        yield "invalid configuration: enableSystemLogHandler is required for enableSystemLogQuery"
    for taint in values.get("registerWithTaints", []):
        if taint.get("effect") not in ("NoSchedule", "PreferNoSchedule", "NoExecute") or not taint.get("key"):
            yield f"invalid taint: {taint}"
        if "timeAdded" in taint:
            yield "invalid configuration: taint.TimeAdded is not nil"


def _enforced(values: Mapping[str, Any]) -> Iterator[str]:
    flag = "enforceNodeAllocatable (--enforce-node-allocatable)"
    listed = values.get("enforceNodeAllocatable") or []
    for entry in listed:
        if entry not in _ENFORCEMENTS:
            yield f'invalid configuration: option "{entry}" specified for {flag}'
        elif entry == "none" and len(listed) > 1:
            yield f'invalid configuration: {flag} may not contain additional enforcements when "none" is specified'
        elif entry != "none" and not values["cgroupsPerQOS"]:
            yield (
                "invalid configuration: cgroupsPerQOS (--cgroups-per-qos) must be set to true when "
                f'"{entry}" contained in {flag}'
            )
