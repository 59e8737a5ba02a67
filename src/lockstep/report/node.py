"""Observed nodes for people: a block each, or a table that compares them; what differs from the plan is marked."""

from __future__ import annotations

import ntpath
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lockstep.report.table import table
from lockstep.verify.kept import Facts, Kept
from lockstep.verify.node import CERTIFICATES, Difference, expires_soon

MARK = "!"
_LABEL = 17
_MANY_NAMES = 3
_POWER = {
    "381b4222-f694-41f0-9685-ff5bb260df2e": "balanced",
    "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c": "high performance",
    "a1841308-3541-4fab-bc81-f71556f20b4a": "power saver",
}
"""Source: Microsoft Learn, "Power Policy Settings"."""
_SERVICES = {"containerd": "containerd", "kubelet": "kubelet", "kube_proxy": "kube-proxy"}
_HEAD = ("Node", "pool", "Windows", "containerd", "kubelet", "handlers", "certificate", "differs")


@dataclass(frozen=True, slots=True)
class Observed:
    """A node as it was observed, its pool's name where a description tells it, and what is to be said of it."""

    kept: Kept
    pool: str | None = None
    differences: tuple[Difference, ...] = ()
    attention: tuple[str, ...] = ()


def show_nodes(nodes: Sequence[Observed], width: int, *, full: bool = False) -> str:
    """Return the nodes as text: one node, or all of them if `full`, in a block each; several in a table."""
    read = [node for node in nodes if node.kept.node is not None]
    parts = [_block(node, width) for node in read] if full or len(nodes) == 1 else [_compared(read, width)]
    parts.append(_unread(nodes, width))
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def _block(node: Observed, width: int) -> list[str]:
    facts = node.kept.node or {}
    about = {difference.about for difference in node.differences}
    lines = [_headline(node, facts)]
    for label, text, marked in _lines(facts, about):
        lines += _labelled(label, text, width, marked=marked)
    if node.differences:
        lines += ["", f"Differs from the plan of pool {node.pool}"]
        lines += [line for each in node.differences for line in _labelled(each.about, each.text, width, indent=2)]
    elif node.pool:
        lines += ["", f"As the plan of pool {node.pool} says."]
    if node.pool and node.kept.overrides:
        lines += _bullet(f"Variables of the host go before the plan: {', '.join(node.kept.overrides)}.", width)
    if node.attention:
        lines += ["", "To look at", *(line for text in node.attention for line in _bullet(text, width))]
    return lines


def _headline(node: Observed, facts: Facts) -> str:
    windows = facts["windows"]
    build = ", ".join(filter(None, (windows.get("product"), windows.get("build"))))
    return "  ".join(filter(None, (node.kept.host, build, node.pool and f"pool {node.pool}")))


def _lines(facts: Facts, about: set[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield label, text and whether it is marked, in the order in which people look."""
    yield "Windows", _windows(facts), "Windows" in about or bool(facts.get("restart_pending"))
    yield from _machine(facts)
    if features := facts.get("features"):
        yield "features", ", ".join(f"{name} {state.replace('_', ' ')}" for name, state in features.items()), False
    for name, label in _SERVICES.items():
        yield label, _service(facts, name), label in about or _stopped(facts, name)
        if name == "containerd":
            yield from _handlers(facts)
        if name == "kubelet":
            yield from _kubelet(facts)
    if crictl := facts.get("versions", {}).get("crictl"):
        yield "crictl", crictl, False
    yield from _certificates(facts)
    yield from _surroundings(facts)


def _windows(facts: Facts) -> str:
    windows = facts["windows"]
    said = [windows.get("installation"), windows.get("edition")]
    if "restart_pending" in facts:
        said.append("waits for a restart" if facts["restart_pending"] else "no restart pending")
    return ", ".join(filter(None, said))


def _machine(facts: Facts) -> Iterator[tuple[str, str, bool]]:
    if machine := facts.get("machine"):
        disks = [
            f"{disk['drive']} {_size(disk['free_bytes'])} of {_size(disk['size_bytes'])} free"
            for disk in machine["disks"]
        ]
        memory = [] if machine["memory_bytes"] is None else [f"{_size(machine['memory_bytes'])} memory"]
        said = [f"{machine['processors']} processors", *memory, *disks]
        yield "machine", ", ".join(said), False


def _service(facts: Facts, name: str) -> str:
    service, version = facts.get("services", {}).get(name, {}), facts.get("versions", {}).get(name)
    if not service.get("exists"):
        return f"{version}, no service" if version else "not there"
    state = f"service {service['state'].replace('_', ' ')} ({service['start_type']})"
    return ", ".join(filter(None, (version, state)))


def _stopped(facts: Facts, name: str) -> bool:
    service = facts.get("services", {}).get(name, {})
    return bool(service.get("exists")) and service["state"] != "running"


def _handlers(facts: Facts) -> Iterator[tuple[str, str, bool]]:
    containerd = facts.get("containerd", {})
    if "error" in containerd:
        yield "  in effect", "nothing: containerd refuses its configuration", True
    if handlers := containerd.get("handlers"):
        default = containerd.get("default_handler")
        names = [f"{name} (default)" if name == default else name for name in handlers]
        yield "  handlers", ", ".join(names), False
        yield "  pause image", str(containerd.get("pause_image") or "not set"), False


def _kubelet(facts: Facts) -> Iterator[tuple[str, str, bool]]:
    kubelet = facts.get("kubelet", {})
    if kubelet.get("exists"):
        joined = kubelet.get("kubeconfig", {}).get("exists")
        yield "  cluster", "has a kubeconfig" if joined else "no kubeconfig: it has joined none", False
    if labels := kubelet.get("node_labels"):
        yield "  labels", ", ".join(f"{name}={value}" for name, value in labels.items()), False
    taints = kubelet.get("configuration", {}).get("registerWithTaints")
    if isinstance(taints, list) and taints:
        yield "  taints", ", ".join(f"{each['key']}={each.get('value', '')}:{each['effect']}" for each in taints), False


def _certificates(facts: Facts) -> Iterator[tuple[str, str, bool]]:
    label = "certificates"
    for name, certificate in facts.get("certificates", {}).items():
        if "not_after" in certificate:
            left = f", {_left(certificate)}" if "days_left" in certificate else ""
            text = f"{str(certificate['not_after'])[:10]}{left}: {CERTIFICATES.get(name, name)}"
            yield label, text, expires_soon(certificate)
            label = ""


def _left(certificate: Mapping[str, Any]) -> str:
    days = int(certificate["days_left"])
    return "expired" if days < 0 else f"{days} day{'' if days == 1 else 's'}"


def _surroundings(facts: Facts) -> Iterator[tuple[str, str, bool]]:
    if store := facts.get("store"):
        names = ", ".join(f"{entry['name']} {entry['version']}" for entry in store["entries"]) or "empty"
        yield "store", names, False
    for name, rule in facts.get("firewall", {}).items():
        said = "no such rule" if rule is None else _rule(rule)
        yield "firewall", f"{name}: {said}", rule is None or not rule["enabled"]
    if defender := facts.get("defender"):
        excluded = [*(ntpath.basename(path) for path in defender["processes"]), *defender["paths"]]
        said = f"leaves alone {', '.join(excluded)}" if excluded else "no exclusions"
        yield "Defender", said if defender["present"] else "not there", False
    if facts.get("power_scheme"):
        yield "power", _POWER.get(facts["power_scheme"], str(facts["power_scheme"])), False
    if "pagefile" in facts:
        yield "pagefile", _pagefile(facts["pagefile"]), not facts["pagefile"]
    if "long_paths" in facts:
        yield "long paths", "on" if facts["long_paths"] else "off", False
    if time := facts.get("time"):
        yield "time", _time(time), time.get("service") not in (None, "running")


def _rule(rule: Mapping[str, Any]) -> str:
    ports = f" {', '.join(rule['local_ports'])}" if rule["local_ports"] else ""
    off = "" if rule["enabled"] else ", switched off"
    return f"{rule['action']} {rule['direction']} {rule['protocol']}{ports}{off}"


def _pagefile(files: Sequence[str]) -> str:
    if not files:
        return "none: Windows nodes need one"
    return "managed by Windows" if files[0].startswith("?:") else ", ".join(files)


def _time(time: Mapping[str, Any]) -> str:
    server = str(time.get("server") or "").partition(",")[0]
    source = f"{time['source']}{f' from {server}' if server else ''}" if time.get("source") else ""
    service = f"time service {time['service']}" if time.get("service") else "no time service"
    return ", ".join(filter(None, (time.get("utc", ""), service, source)))


def _size(count: int) -> str:
    return f"{count / 2**30:.0f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def _compared(nodes: Sequence[Observed], width: int) -> list[str]:
    if not nodes:
        return []
    rows = [_row(node, node.kept.node or {}) for node in nodes]
    columns = [index for index in range(len(_HEAD)) if any(row[index] not in ("", "-") for row in rows)]
    head = [_HEAD[index] for index in columns]
    lines = table(head, [[row[index] for index in columns] for row in rows], width)
    return [*lines, *_grouped(nodes, width)]


def _row(node: Observed, facts: Facts) -> tuple[str, ...]:
    soonest = min(
        (each for each in facts.get("certificates", {}).values() if "days_left" in each),
        key=lambda each: int(each["days_left"]),
        default=None,
    )
    handlers = facts.get("containerd", {}).get("handlers")
    count = len(node.differences)
    return (
        node.kept.host,
        node.pool or "-",
        str(facts["windows"].get("build", "-")).removeprefix("10.0."),
        _brief(facts, "containerd"),
        _brief(facts, "kubelet"),
        "-" if handlers is None else str(len(handlers)),
        "-" if soonest is None else _left(soonest) + (f"{MARK}" if expires_soon(soonest) else ""),
        "-" if node.pool is None else f"{count}{MARK}" if count else "no",
    )


def _brief(facts: Facts, name: str) -> str:
    version = facts.get("versions", {}).get(name) or "-"
    state = facts.get("services", {}).get(name, {}).get("state", "running")
    return version if state == "running" else f"{version}{MARK}"


def _grouped(nodes: Sequence[Observed], width: int) -> Iterator[str]:
    """Yield everything that is to be said, each once, with the nodes that it is true of."""
    said: dict[tuple[str, str], list[str]] = {}
    order = {"Windows": 0, "containerd": 1, "kubelet": 2}
    found = [(each, node.kept.host) for node in nodes for each in node.differences]
    for each, host in sorted(found, key=lambda pair: order.get(pair[0].about, len(order))):
        said.setdefault(("Differs from the plan", f"{each.about}: {each.text}"), []).append(host)
    for node in nodes:
        for text in node.attention:
            said.setdefault(("To look at", text), []).append(node.kept.host)
    title = ""
    for (heading, text), hosts in said.items():
        if heading != title:
            yield from ("", heading)
            title = heading
        yield from _bullet(f"{text} ({_names(hosts, len(nodes))})", width)


def _names(hosts: Sequence[str], count: int) -> str:
    if len(hosts) == count > 1:
        return "all of them"
    shown = ", ".join(hosts[:_MANY_NAMES])
    return shown if len(hosts) <= _MANY_NAMES else f"{shown} and {len(hosts) - _MANY_NAMES} more"


def _unread(nodes: Sequence[Observed], width: int) -> list[str]:
    lines: list[str] = []
    for node in nodes:
        if node.kept.node is None:
            first, *rest = node.kept.error.strip().splitlines() or [""]
            lines += _bullet(f"{node.kept.host}: {first}", width)
            lines += [f"    {line.strip()}" for line in rest]
    return ["Could not be read", *lines] if lines else []


def _labelled(label: str, text: str, width: int, *, marked: bool = False, indent: int = 0) -> list[str]:
    start = f"{' ' * indent}{label:<{_LABEL - 2 - indent}}{MARK if marked else ' '} "
    return _wrapped(text, start, width)


def _bullet(text: str, width: int) -> list[str]:
    return _wrapped(text, "  ", width, hanging=4)


def _wrapped(text: str, start: str, width: int, hanging: int | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=start,
        subsequent_indent=" " * (len(start) if hanging is None else hanging),
        break_long_words=False,
        break_on_hyphens=False,
    )
