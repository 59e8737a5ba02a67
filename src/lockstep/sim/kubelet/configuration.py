"""KubeletConfiguration: decoding, defaults, and the rules that stop kubelet on Windows.

Sources: kubernetes v1.29.15 and v1.36.1 pkg/kubelet/apis/config/validation/{validation,validation_windows}.go,
pkg/kubelet/apis/config/v1beta1/defaults.go, pkg/kubelet/kubeletconfig/{configfiles,util/codec}.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from lockstep.catalog.kubernetes import Minor
from lockstep.sim.kubelet.arguments import KubeletFails, pairs

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
    """Return the fields that a file sets, and what kubelet logs about it; raises KubeletFails.

    A field that this minor does not know is dropped: strict decoding fails, lenient decoding goes on, one line is logged.
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
    unknown: list[str] = []
    values = _fields(document, "KubeletConfiguration", "", minor, unknown, path)
    values.pop("apiVersion", None)
    values.pop("kind", None)
    if not unknown:
        return values, []
    words = ", ".join(f'unknown field "{name}"' for name in unknown)
    return values, [f'"Using lenient decoding as strict decoding failed" err="strict decoding error: {words}"']


def _fields(
    document: Mapping[str, Any], kind: str, prefix: str, minor: Minor, unknown: list[str], path: str
) -> dict[str, Any]:
    known, found = minor.types[kind], {}
    for key, value in document.items():
        # encoding/json finds a field whatever its case; kubelet's strict decoder, which says so, is not fatal.
        name = key if key in known else next((field for field in known if field.lower() == str(key).lower()), None)
        if name is None:
            unknown.append(f"{prefix}{key}")
            continue
        if value is None:
            continue
        type_ = known[name].type
        if type_ in minor.types and isinstance(value, dict):
            found[name] = _fields(value, type_, f"{prefix}{name}.", minor, unknown, path)
            continue
        allowed = _json_types(type_, minor)
        if allowed and (not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed)):
            raise _loading(
                path,
                f"failed to decode: json: cannot unmarshal {_json_name(value)} into Go struct field {kind}.{name} of type {type_}",
            )
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


def _loading(path: str, words: str) -> KubeletFails:
    return KubeletFails(
        f"failed to load kubelet config file, path: {path}, error: failed to load Kubelet config file {path}, error {words}"
    )


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
    """Return what kubelet warns of; raises KubeletFails with everything that stops it before it is up."""
    errors = [*_windows(values, minor), *_everywhere(values)]
    if errors:
        listed = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
        raise KubeletFails(f"failed to validate kubelet configuration, error: {listed}")
    warnings = []
    if minor.number >= _WARNS_ONLY:
        if values.get("cgroupsPerQOS"):
            warnings.append(
                "ignored configuration option: CgroupsPerQOS (--cgroups-per-qos) true is not supported on Windows"
            )
        enforced = [entry for entry in values.get("enforceNodeAllocatable", []) if entry != "none"]
        if enforced:
            warnings.append(
                f"ignored configuration option: EnforceNodeAllocatable (--enforce-node-allocatable) [{' '.join(enforced)}] "
                "is not supported on Windows"
            )
    return warnings


def _windows(values: Mapping[str, Any], minor: Minor) -> list[str]:
    errors = []
    if minor.number < _WARNS_ONLY:
        message = "invalid configuration: {} ({}) {} is not supported on Windows"
        if values.get("cgroupsPerQOS"):
            errors.append(message.format("CgroupsPerQOS", "--cgroups-per-qos", "true"))
        if values.get("enforceNodeAllocatable"):
            listed = f"[{' '.join(values['enforceNodeAllocatable'])}]"
            errors.append(message.format("EnforceNodeAllocatable", "--enforce-node-allocatable", listed))
    errors += [
        f"invalid configuration: {field} is not supported on Windows"
        for field in sorted(minor.fatal_on_windows)
        if field in values
    ]
    for gate, value in values.get("featureGates", {}).items():
        locked = minor.locked_gates.get(gate)
        if locked is not None and value is not locked:
            errors.append(
                f"cannot set feature gate {gate} to {str(value).lower()}, feature is locked to {str(locked).lower()}"
            )
    return errors


def _everywhere(values: Mapping[str, Any]) -> list[str]:
    errors = []
    low, high = values["imageGCLowThresholdPercent"], values["imageGCHighThresholdPercent"]
    if low >= high:
        errors.append(
            f"invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) {low} must be less than "
            f"imageGCHighThresholdPercent (--image-gc-high-threshold) {high}"
        )
    if values["containerLogMaxFiles"] <= 1:
        errors.append("invalid configuration: containerLogMaxFiles must be greater than 1")
    if values.get("enableSystemLogQuery") and not values.get("enableSystemLogHandler"):
        errors.append("invalid configuration: enableSystemLogHandler is required for enableSystemLogQuery")
    for taint in values.get("registerWithTaints", []):
        if taint.get("effect") not in ("NoSchedule", "PreferNoSchedule", "NoExecute") or not taint.get("key"):
            errors.append(f"invalid taint: {taint}")
        if "timeAdded" in taint:
            errors.append("invalid configuration: taint.TimeAdded is not nil")
    enforced = values.get("enforceNodeAllocatable") or []
    for entry in enforced:
        if entry not in _ENFORCEMENTS:
            errors.append(f'invalid configuration: option "{entry}" specified for enforceNodeAllocatable')
        elif entry == "none":
            if len(enforced) > 1:
                errors.append(
                    'invalid configuration: enforceNodeAllocatable may not contain additional enforcements when "none" is specified'
                )
        elif not values["cgroupsPerQOS"]:
            errors.append(
                f'invalid configuration: cgroupsPerQOS (--cgroups-per-qos) must be set to true when "{entry}" contained in '
                "enforceNodeAllocatable (--enforce-node-allocatable)"
            )
    return errors
