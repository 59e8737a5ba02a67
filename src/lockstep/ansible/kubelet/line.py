"""kubelet's own command line as it is to be: what the node has, kubeadm's flags, those of the service and the task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lockstep.ansible.kubelet.node import NSSM, KubeletNode
from lockstep.ansible.kubelet.paths import Paths
from lockstep.catalog.kubernetes import Minor
from lockstep.kubelet.arguments import quote
from lockstep.kubelet.command_line import merge_flags, remove_flags
from lockstep.kubelet.joining import BOOTSTRAP_KUBECONFIG, KUBECONFIG
from lockstep.kubelet.kubeadm_flags import read_flags
from lockstep.kubelet.service_line import NODE_LABELS, parse

WINDOWS_SERVICE, CONFIG, CONFIG_DIR = "windows-service", "config", "config-dir"
PRIORITY, HOSTNAME, NODE_IP = "windows-priorityclass", "hostname-override", "node-ip"
PROVIDERS, PROVIDERS_FOLDER = "image-credential-provider-config", "image-credential-provider-bin-dir"
ENDPOINT = "npipe:////./pipe/containerd-containerd"
_ENDPOINT_FLAG = "container-runtime-endpoint"
_FRESH_PRIORITY = "ABOVE_NORMAL_PRIORITY_CLASS"
"""Recommended, or higher, by kubernetes/website docs/concepts/configuration/windows-resource-management.md."""


@dataclass(frozen=True, slots=True)
class Line:
    """The command line, kubelet.exe first, and what there is to say about it."""

    text: str
    warnings: tuple[str, ...] = ()


def planned_line(
    node: KubeletNode,
    arguments: Mapping[str, Any],
    paths: Paths,
    facts: Minor,
    fields: Mapping[str, Any],
    *,
    wrapper: str,
    joined: bool,
) -> Line:
    """Return the line with everything on it; what a person or kubeadm put there stays.

    `fields` are the planned ones of the configuration, which flags must not override. Raises CommandLineError.
    """
    version = arguments["version"]
    there = node.line()
    text = there or quote(paths.program)
    gone = _removed(text, facts)
    if gone:
        text = remove_flags(text, dict.fromkeys(gone), version, prune_labels=False)
    kubeadm = read_flags(node.files[paths.kubeadm_flags], facts)
    service = {
        **_service_flags(text, arguments, paths, facts, wrapper=wrapper, joined=joined, fresh=there is None),
        **given_flags(arguments),
    }
    if there is None:
        text = merge_flags(text, _first(service), version)
    text = merge_flags(text, kubeadm.flags, version, prune_labels=False)
    text = merge_flags(text, service, version, fields, prune_labels=arguments["prune_node_labels"])
    told = [f"--{name} is taken off kubelet's command line: it went with {when}" for name, when in gone.items()]
    told += [f"left out of {paths.kubeadm_flags}: {why}" for why in kubeadm.dropped]
    return Line(text, tuple(told))


def remaining_line(node: KubeletNode, arguments: Mapping[str, Any]) -> Line:
    """Return the line without what the task names. Raises CommandLineError."""
    flags, prune = given_flags(arguments), arguments["prune_node_labels"]
    return Line(remove_flags(node.line() or "", flags, arguments["version"], prune_labels=prune))


def given_flags(arguments: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the flags that a task gives, labels among them, as kubelet reads them."""
    flags = {name: flag_text(value) for name, value in arguments["flags"].items()}
    labels = arguments["node_labels"]
    if labels or arguments["prune_node_labels"]:
        flags[NODE_LABELS] = ",".join(f"{key}={flag_text(value) or ''}" for key, value in labels.items())
    own = ((HOSTNAME, "hostname_override"), (NODE_IP, "node_ip"), (PRIORITY, "priority_class"))
    return flags | {name: str(arguments[option]) for name, option in own if arguments.get(option)}


def flag_text(value: Any) -> str | None:
    """Return a flag's value as kubelet reads it."""
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)


def _service_flags(
    text: str, arguments: Mapping[str, Any], paths: Paths, facts: Minor, *, wrapper: str, joined: bool, fresh: bool
) -> dict[str, str | None]:
    """Return the flags that follow from how kubelet is started, and from whether it has a cluster."""
    there = parse(text, facts).values()
    # Under nssm kubelet is a program like any other: the service manager does not know it.
    flags: dict[str, str | None] = {WINDOWS_SERVICE: None if wrapper == NSSM else "true"}
    if CONFIG not in there:
        flags[CONFIG] = paths.config
    if paths.config_dir:
        flags[CONFIG_DIR] = paths.config_dir
    if arguments["credential_providers"]:
        flags |= {PROVIDERS: paths.providers, PROVIDERS_FOLDER: paths.providers_folder}
    if joined:
        files = {BOOTSTRAP_KUBECONFIG: paths.bootstrap_kubeconfig, KUBECONFIG: paths.kubeconfig}
        flags |= {name: path for name, path in files.items() if name not in there}
    if fresh:
        flags[PRIORITY] = _FRESH_PRIORITY
    if not facts.endpoint_is_field and _ENDPOINT_FLAG not in there:
        flags[_ENDPOINT_FLAG] = ENDPOINT
    return flags


def _first(flags: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the flags that a new line begins with, so that it reads as people write it."""
    return {name: flags[name] for name in (WINDOWS_SERVICE, CONFIG) if flags.get(name) is not None}


def _removed(text: str, facts: Minor) -> dict[str, str]:
    """Return the flags that this release stops at and an earlier one had, each with the minor in which it went."""
    there = parse(text, facts).values()
    return {name: facts.removed_flags[name] for name in there if name in facts.removed_flags}
