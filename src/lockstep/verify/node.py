"""One node, as it was observed: where it differs from its pool's plan, and what wants attention whatever the plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lockstep.catalog.builds import UnknownBuild, resolve
from lockstep.fleet.plan import Handler, PoolPlan, pool_to_data
from lockstep.verify.kept import Facts

SOON = 30
"""Days before the end of a certificate from which it is told: kubelet renews its own at 70 to 90 % of their life.

Source: kubernetes/client-go util/certificate/certificate_manager.go, nextRotationDeadline.
"""
CERTIFICATES = {
    "kubelet_client": "kubelet's client certificate",
    "kubelet_server": "kubelet's server certificate",
    "kubelet_serving": "kubelet's server certificate, signed by itself",
    "cluster_ca": "the cluster's CA",
}
_PLANNED = ("containerd", "kubelet")
"""The services that a plan wants to run."""
RESTART_REASONS = {
    "component_servicing": "features or updates are half installed",
    "windows_update": "Windows Update",
    "file_renames": "files to be replaced",
    "computer_name": "another computer name",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as planned. `about` is what people look for: Windows, containerd, kubelet."""

    about: str
    text: str


def overridden(pool: PoolPlan, overrides: Mapping[str, Any]) -> PoolPlan:
    """Return a pool's plan with what a host's variables say in its place; empty is what is not planned then."""
    said = {name: value or _NOTHING.get(name, "") for name, value in overrides.items()}
    containerd, kubelet, windows = pool.containerd, pool.kubelet, pool.windows
    return replace(
        pool,
        host=said.get("windows_host_build", pool.host),
        windows=replace(windows, features=tuple(said.get("windows_host_features", windows.features))),
        containerd=replace(
            containerd,
            version=said.get("containerd_version", containerd.version),
            pause_image=said.get("containerd_pause_image", containerd.pause_image),
            default_handler=said.get("containerd_default_handler", containerd.default_handler),
            handlers=tuple(map(_stated, said["containerd_handlers"]))
            if "containerd_handlers" in said
            else containerd.handlers,
        ),
        kubelet=replace(
            kubelet,
            version=said.get("kubelet_version", kubelet.version),
            configuration=said.get("kubelet_configuration", kubelet.configuration),
            node_labels={
                name: str(value) for name, value in said.get("kubelet_node_labels", kubelet.node_labels).items()
            },
        ),
    )


_NOTHING: Mapping[str, Any] = {
    "windows_host_features": (),
    "containerd_handlers": (),
    "kubelet_configuration": {},
    "kubelet_node_labels": {},
}


def _stated(table: Mapping[str, Any]) -> Handler:
    """Return a handler as the module containerd_config takes it."""
    return Handler(
        name=str(table["name"]),
        isolation=table.get("isolation", "process"),
        runtime_type=str(table.get("runtime_type") or ""),
        pod_annotations=tuple(table.get("pod_annotations") or ()),
        container_annotations=tuple(table.get("container_annotations") or ()),
        options=table.get("options") or {},
        sandboxer=table.get("sandboxer"),
    )


def differences(node: Facts, pool: PoolPlan) -> tuple[Difference, ...]:
    """Return where a node is not what its pool's plan says; what could not be read is no difference."""
    return (
        *(Difference("Windows", text) for text in _windows(node, pool)),
        *(Difference("containerd", text) for text in _containerd(node, pool)),
        *(Difference("kubelet", text) for text in _kubelet(node, pool)),
    )


def attention(node: Facts, *, compared: bool = False) -> tuple[str, ...]:
    """Return what somebody should look at, plan or none; without what a comparison with the plan tells already."""
    return (*_services(node, _PLANNED if compared else ()), *_states(node), *_expiring(node), *_unread(node))


def expires_soon(certificate: Mapping[str, Any]) -> bool:
    """Return whether a certificate ends within the month, or has ended."""
    return "days_left" in certificate and int(certificate["days_left"]) < SOON


def _windows(node: Facts, pool: PoolPlan) -> Iterator[str]:
    build = node["windows"].get("build", "")
    try:
        if build and pool.host and resolve(build) != resolve(pool.host):
            yield f"is {resolve(build)}, planned is {resolve(pool.host)}"
    except UnknownBuild:
        yield f"is {build}, planned is {resolve(pool.host)}"
    states = node.get("features", {})
    for name in pool.windows.features:
        if states.get(name, "installed") != "installed":
            yield f"feature {name} is {states[name].replace('_', ' ')}, planned is installed"


def _containerd(node: Facts, pool: PoolPlan) -> Iterator[str]:
    plan, facts = pool.containerd, node.get("containerd", {})
    yield from _release(node, "containerd", plan.version)
    handlers = facts.get("handlers")
    if handlers is None:
        return
    for handler in plan.handlers:
        if handler.name not in handlers:
            yield f"handler {handler.name} is not there"
            continue
        yield from (f"handler {handler.name}: {text}" for text in _handler(handlers[handler.name], handler))
    for name, found, planned in (
        ("default handler", facts.get("default_handler"), plan.default_handler),
        ("pause image", facts.get("pause_image"), plan.pause_image),
    ):
        if planned and found != planned:
            yield f"{name} is {found or 'not set'}, planned is {planned}"
    loaded = facts.get("loaded_handlers")
    for handler in plan.handlers:
        if loaded is not None and handler.name in handlers and handler.name not in loaded:
            yield f"handler {handler.name} is configured, but the running containerd has not loaded it"


def _handler(table: Mapping[str, Any], planned: Handler) -> Iterator[str]:
    if planned.runtime_type and table.get("runtime_type") != planned.runtime_type:
        yield f"runtime_type is {table.get('runtime_type') or 'not set'}, planned is {planned.runtime_type}"
    options = table.get("options") or {}
    for name, value in planned.options.items():
        # True == 1 in Python, and a TOML boolean where the shim wants an integer fails when a pod is created.
        if type(options.get(name)) is not type(value) or options[name] != value:
            yield f"{name} is {_text(options.get(name))}, planned is {_text(value)}"


def _kubelet(node: Facts, pool: PoolPlan) -> Iterator[str]:
    plan, facts = pool_to_data(pool)["kubelet"], node.get("kubelet", {})
    yield from _release(node, "kubelet", plan["version"])
    if "configuration" in facts:
        yield from _fields(facts["configuration"], plan["configuration"], "")
    labels = facts.get("node_labels")
    for key, value in plan["node_labels"].items() if labels is not None else ():
        if labels.get(key) != value:
            yield f"label {key} is {labels.get(key, 'not set')}, planned is {value}"


def _release(node: Facts, program: str, planned: str) -> Iterator[str]:
    found = node.get("versions", {}).get(program)
    if found is None or (planned and found != planned):
        yield f"is {found or 'not there'}, planned is {planned or 'any release'}"
    service = node.get("services", {}).get(program, {})
    if found and service.get("exists") is False:
        yield f"has no service {service['name']}"
    if service.get("exists") and service["state"] != "running":
        yield f"service {service['name']} is {service['state'].replace('_', ' ')}, planned is running"


def _fields(found: Mapping[str, Any], planned: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """Yield the planned fields that have another value; of a mapping, those below it."""
    for name, value in planned.items():
        have = found.get(name)
        if isinstance(value, Mapping) and isinstance(have, Mapping):
            yield from _fields(have, value, f"{prefix}{name}.")
        elif have != value:
            yield f"{prefix}{name} is {_text(have)}, planned is {_text(value)}"


def _text(value: Any) -> str:
    """Return a value as a person would write it; taints as kubectl does."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping) and {"key", "effect"} <= value.keys():
        return f"{value['key']}{'=' if value.get('value') else ''}{value.get('value') or ''}:{value['effect']}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_text(inner)}" for name, inner in value.items()) or "empty"
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "empty"
    return str(value)


def _services(node: Facts, without: Collection[str]) -> Iterator[str]:
    for name, service in node.get("services", {}).items():
        stopped = service.get("exists") and service["state"] != "running" and service["start_type"] != "disabled"
        if stopped and name not in without:
            yield f"service {service['name']} is {service['state'].replace('_', ' ')}"


def _states(node: Facts) -> Iterator[str]:
    if reasons := node.get("restart_pending"):
        yield f"Windows waits for a restart: {', '.join(RESTART_REASONS.get(reason, reason) for reason in reasons)}"
    for name in ("containerd", "kubelet"):
        facts = node.get(name, {})
        if facts.get("interrupted"):
            yield f"a change of {name} was interrupted: the next run of its role completes it"
        for key in ("error", "configuration_error", "flags_error"):
            if key in facts:
                yield f"{name}: {facts[key]}"


def _expiring(node: Facts) -> Iterator[str]:
    for name, certificate in node.get("certificates", {}).items():
        if expires_soon(certificate):
            yield f"{CERTIFICATES.get(name, name)} {ends(certificate)}"


def ends(certificate: Mapping[str, Any]) -> str:
    """Return when a certificate ends, in words."""
    day, left = str(certificate["not_after"])[:10], int(certificate["days_left"])
    if left < 0:
        return f"has expired, on {day}"
    return f"expires on {day}, in {left} day{'' if left == 1 else 's'}"


def _unread(node: Facts) -> Iterator[str]:
    for name, said in node.get("errors", {}).items():
        yield f"{name.replace('_', ' ')} could not be read: {said}"
