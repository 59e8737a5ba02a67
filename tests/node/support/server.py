"""What Windows itself has before a case, for each engine.

    windows:
      features: {Containers: available}       as feature.read tells states; on the emulated engine all that it knows
      firewall: {name: {display_name: …}}     as firewall.read tells rules
      firewall_text: {name: 'v2.31|…'}        as the registry has them; the emulated engine keeps none of that
      defender: {present: false, processes: […], paths: […], governed: true}
      power: {scheme: …, schemes: […]}

PowerShell has stubs for it (stubs/server.psm1), which keep their state in files of C:\\lockstep-stubs; what the agent
reads from the registry is there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

FOLDER = "C:\\lockstep-stubs"
SUBJECTS = ("feature-", "firewall-", "defender-", "power-")
"""How the names of cases begin that need what Windows itself has, even where they say nothing of it."""
FIREWALL = r"HKLM\SYSTEM\CurrentControlSet\Services\SharedAccess\Parameters\FirewallPolicy\FirewallRules"
POWER = r"HKLM\SYSTEM\CurrentControlSet\Control\Power\User\PowerSchemes"
POWER_CONFIGURATION = r"C:\Windows\System32\powercfg.exe"
BALANCED = "381b4222-f694-41f0-9685-ff5bb260df2e"
HIGH = "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c"

_PROTOCOLS = {"tcp": "6", "udp": "17"}


def emulated(windows: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state files of the emulated engine, by name."""
    return {name: document for name, document in windows.items() if name != "firewall_text"}


def files(windows: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the state files of the stubs, all of them."""
    states = windows.get("features", {"Containers": "available"})
    features = {name: _spelt(state) for name, state in states.items()}
    defender = {"present": True, "processes": [], "paths": [], **windows.get("defender", {})}
    power = {"schemes": [BALANCED, HIGH], **windows.get("power", {})}
    documents = {"features": features, "defender": defender, "power": power}
    return {f"{FOLDER}\\{name}.json": json.dumps(document).encode("ascii") for name, document in documents.items()}


def registry(windows: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the texts that the registry has, by key and name."""
    rules = {name: rule_text(rule) for name, rule in windows.get("firewall", {}).items()}
    scheme = windows.get("power", {}).get("scheme", BALANCED)
    power = {} if scheme is None else {"ActivePowerScheme": scheme}
    return {FIREWALL: {**rules, **windows.get("firewall_text", {})}, POWER: power}


def registry_file(windows: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the registry as the file that PowerShell for Linux has instead of one."""
    document = {
        key: {name: {"kind": "string", "value": value} for name, value in values.items()}
        for key, values in registry(windows).items()
        if values
    }
    return {f"{FOLDER}\\registry.json": json.dumps(document).encode("ascii")}


def rule_text(rule: Mapping[str, Any]) -> str:
    """Return a firewall rule by the grammar of [MS-GPFAS] 2.2.2.19."""
    ports = [f"LPort2_10={port}" if "-" in port else f"LPort={port}" for port in rule["local_ports"]]
    protocol = [] if rule["protocol"] == "any" else [f"Protocol={_PROTOCOLS.get(rule['protocol'], rule['protocol'])}"]
    fields = [
        f"Action={rule['action'].capitalize()}",
        f"Active={str(rule['enabled']).upper()}",
        f"Dir={'In' if rule['direction'] == 'inbound' else 'Out'}",
        *protocol,
        *ports,
        f"Name={rule['display_name']}",
    ]
    return "".join(f"{field}|" for field in ("v2.31", *fields))


def _spelt(state: str) -> str:
    """Return a state as Get-WindowsFeature spells it: `install_pending` is InstallPending."""
    return "".join(word.capitalize() for word in state.split("_"))
