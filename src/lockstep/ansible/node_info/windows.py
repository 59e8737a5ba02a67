"""What a node says of Windows and of the machine, as facts."""

from __future__ import annotations

from typing import Any

from lockstep.ansible.node_info.questions import REGISTRY, Answers
from lockstep.windows.registry import value_of

_MACHINE = ("memory_bytes", "processors", "disks", "hypervisor_present", "virtualization_firmware", "winrm")


def windows_facts(answers: Answers) -> dict[str, Any]:
    """Return the facts about Windows; what is not there is null or empty, what could not be read is left out."""
    system, machine = answers("system"), answers("machine")
    facts: dict[str, Any] = {}
    if system:
        facts["name"] = system.get("host_name") or system["computer_name"]
        facts["windows"] = {"product": system["product"], "build": system["build"]}
    if machine:
        installed = {key: machine[key] for key in ("edition", "installation")}
        facts["windows"] = {**facts.get("windows", {}), **installed}
        facts["machine"] = {key: machine[key] for key in _MACHINE}
        facts["restart_pending"] = machine["reboot_pending"]
        facts["time"] = {"utc": machine["utc"]}
    if answers("features"):
        facts["features"] = answers("features")["features"]
    return {**facts, **_settings(answers, facts.get("time", {})), **_guards(answers), **_store(answers)}


def _settings(answers: Answers, time: dict[str, Any]) -> dict[str, Any]:
    values = {name: value_of(answers(name)) for name in REGISTRY if answers(name)}
    facts: dict[str, Any] = {}
    if "long_paths" in values:
        facts["long_paths"] = values["long_paths"] == 1
    if "pagefile" in values:
        facts["pagefile"] = values["pagefile"] or []
    if service := answers("time_service"):
        state = service["state"] if service["exists"] else None
        time = {**time, "service": state, "source": values.get("time_source"), "server": values.get("time_server")}
    if time:
        facts["time"] = time
    if answers("power"):
        facts["power_scheme"] = answers("power")["scheme"]
    return facts


def _guards(answers: Answers) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if answers("firewall"):
        facts["firewall"] = answers("firewall")["rules"]
    if defender := answers("defender"):
        facts["defender"] = {key: defender[key] for key in ("present", "processes", "paths")}
    return facts


def _store(answers: Answers) -> dict[str, Any]:
    store = answers("store")
    if not store:
        return {}
    entries = [{key: entry[key] for key in ("entry", "name", "version")} for entry in store["entries"]]
    return {"store": {"entries": entries, "uploads": sorted(store["uploads"]), "free_bytes": store["free_bytes"]}}
