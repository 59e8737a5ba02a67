"""A windows_host task's arguments as settings of a node, or what is wrong with them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lockstep.ansible.errors import TaskError, in_role, listed
from lockstep.catalog.builds import UnknownBuild, resolve
from lockstep.k8s.names import dns_subdomain_problem
from lockstep.windows import access
from lockstep.windows.firewall import Rule
from lockstep.windows.folders import Folder
from lockstep.windows.guards import SCHEMES
from lockstep.windows.machine import Needs
from lockstep.windows.registry import Wanted
from lockstep.windows.settings import HostSettings

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PATH = re.compile(r"[A-Za-z]:\\[^;]*")
_PORTS = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")
_LAST_PORT = 65535
_HIVE = "HKLM\\"
_LONGEST_RESTART = 3600
_PATH_LISTS = ("path_entries", "defender_processes", "defender_paths")
_HYPERV = "hyper-v"
REBOOT = ("auto", "always", "report", "never")
"""What to do where Windows waits for a restart."""
_VARIABLES = {"host": "windows_host_build", "reboot": "lockstep_reboot", "reboot_timeout": "lockstep_reboot_timeout"}
"""The variables that are not called as the option is."""
_LARGEST = {"dword": 2**32, "qword": 2**64}


def settings_of(arguments: Mapping[str, Any]) -> HostSettings:
    """Return the settings that a task's arguments state; they are those that `refuse_wrong_arguments` takes."""
    scheme = arguments["power_scheme"]
    return HostSettings(
        features=tuple(dict.fromkeys(arguments["features"])),
        feature_source=arguments["feature_source"] or None,
        long_paths=arguments["long_paths"],
        pagefile=arguments["pagefile"],
        power_scheme=SCHEMES.get(scheme, scheme.lower()) if scheme else None,
        time_service=arguments["time_service"],
        time_servers=tuple(arguments["time_servers"]) if arguments["time_service"] else (),
        dns_suffixes=None if arguments["dns_suffixes"] is None else tuple(arguments["dns_suffixes"]),
        folders=tuple(Folder(item["path"], _access(item["access"])) for item in arguments["folders"]),
        path=tuple(arguments["path_entries"]),
        defender_processes=tuple(arguments["defender_processes"]),
        defender_paths=tuple(arguments["defender_paths"]),
        firewall=tuple(_rule(item) for item in arguments["firewall_rules"]),
        registry=tuple(_value(item) for item in arguments["registry"]),
        kubelet_service=arguments["kubelet_service"],
    )


def needs_of(arguments: Mapping[str, Any]) -> Needs:
    """Return what a task asks of a node's machine."""
    hyperv = any(name.lower() == _HYPERV for name in arguments["features"])
    return Needs(arguments["min_memory_mb"], arguments["min_processors"], arguments["min_free_disk_gb"], hyperv)


def refuse_wrong_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise TaskError that names every argument of which nothing can be made; nothing is asked of the node."""
    problems = [_named(problem) for problem in _problems(arguments)]
    if len(problems) == 1:
        raise TaskError(problems[0])
    if problems:
        raise TaskError(listed("Windows cannot be prepared like this:", problems))


def _named(problem: str) -> str:
    """Return what is wrong with an option, with the variable that users of the role have for it."""
    where, colon, rest = problem.partition(":")
    option = where.partition("[")[0]
    return in_role(where, _VARIABLES.get(option, f"windows_host_{option}")) + colon + rest


def _problems(arguments: Mapping[str, Any]) -> Iterator[str]:
    yield from _single_problems(arguments)
    for name in _PATH_LISTS:
        for item in arguments[name]:
            if not _PATH.fullmatch(item):
                yield f"{name}: '{item}' is no full Windows path: expected one such as C:\\folder, with backslashes"
    for suffix in arguments["dns_suffixes"] or ():
        if problem := dns_subdomain_problem(suffix):
            yield f"dns_suffixes: {problem}"
    for server in arguments["time_servers"]:
        if not server or re.search(r"[\s,]", server):
            yield f"time_servers: '{server}' is no name or address of a server"
    yield from _folder_problems(arguments["folders"])
    yield from _firewall_problems(arguments["firewall_rules"])
    yield from _registry_problems(arguments["registry"])


def _single_problems(arguments: Mapping[str, Any]) -> Iterator[str]:
    if arguments["host"]:
        try:
            resolve(arguments["host"])
        except UnknownBuild as error:
            near = f"; did you mean '{error.suggestion}'?" if error.suggestion else ""
            yield f"host: {error.message}{near}"
    scheme = arguments["power_scheme"]
    if scheme and scheme not in SCHEMES and not _GUID.fullmatch(scheme.lower()):
        yield f"power_scheme: '{scheme}' is no power scheme: expected {', '.join(SCHEMES)}, or the GUID of one"
    if arguments["reboot"] not in REBOOT:
        yield f"reboot: '{arguments['reboot']}' is none of {', '.join(REBOOT)}"
    timeout = arguments["reboot_timeout"]
    if not 1 <= timeout <= _LONGEST_RESTART:
        yield f"reboot_timeout: {timeout} is out of range: expected 1 to {_LONGEST_RESTART} seconds"


def _folder_problems(folders: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for index, item in enumerate(folders):
        if not _PATH.fullmatch(item["path"]):
            yield f"folders[{index}].path: '{item['path']}' is no full Windows path"
        if item["access"] not in access.NAMES and (problem := access.problem(item["access"])):
            yield f"folders[{index}].access: {problem}"


def _firewall_problems(rules: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for index, item in enumerate(rules):
        for port in item["ports"]:
            match = _PORTS.fullmatch(port)
            first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
            if not first <= last <= _LAST_PORT:
                yield f"firewall_rules[{index}].ports: '{port}' is no port or range such as 10250 or 30000-32767"
        if item["ports"] and item["protocol"] == "any":
            yield f"firewall_rules[{index}]: ports need protocol tcp or udp"
    names = [item["name"].lower() for item in rules]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"firewall_rules: there are several rules {name}"


def _registry_problems(values: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for index, item in enumerate(values):
        where = f"registry[{index}]"
        if not item["key"].startswith(_HIVE):
            yield f"{where}.key: '{item['key']}' is not below {_HIVE}"
        if item["state"] == "present" and not _fits(item["kind"], item["value"]):
            yield f"{where}.value: expected {_EXPECTED[item['kind']]} for kind {item['kind']}"


_EXPECTED = {
    "string": "text",
    "expand_string": "text",
    "multi_string": "a list of texts",
    "dword": "a whole number from 0 to 4294967295",
    "qword": "a whole number of 64 bits",
    "binary": "text in base64",
}


def _fits(kind: str, value: Any) -> bool:
    if kind in _LARGEST:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST[kind]
    if kind == "multi_string":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if kind == "binary" and isinstance(value, str):
        try:
            base64.b64decode(value, validate=True)
        except ValueError:
            return False
    return isinstance(value, str)


def _access(words: str) -> str | None:
    return access.NAMES.get(words, words)


def _rule(item: Mapping[str, Any]) -> Rule:
    return Rule(
        name=item["name"],
        display_name=item["display_name"] or item["name"],
        protocol=item["protocol"],
        ports=tuple(item["ports"]),
        direction=item["direction"],
        action=item["action"],
        present=item["state"] == "present",
    )


def _value(item: Mapping[str, Any]) -> Wanted:
    return Wanted(item["key"], item["name"], item["kind"], item["value"] if item["state"] == "present" else None)
