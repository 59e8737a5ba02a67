"""What one aspect of a node is and is to be: access lists, PATH, registry, pagefile, firewall, Defender, time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from lockstep.node.operations import Operation, Result
from lockstep.windows import access, clock, firewall, folders, guards, pagefile, path, registry
from lockstep.windows.aspect import Aspect, Observed, masked
from lockstep.windows.firewall import Rule
from lockstep.windows.folders import Folder
from lockstep.windows.registry import Wanted

ACCESS = yaml.safe_load((Path(__file__).parent / "access.yaml").read_text(encoding="utf-8"))
ENTRIES = st.lists(
    st.sampled_from(["%SystemRoot%", r"C:\k", r"C:\K\\", "C:\\a b", "", '"C:\\q"', r"D:\x"])
    | st.text("abC:\\ %", max_size=8),
    max_size=6,
)


def seen(operation: Operation, result: Result) -> Observed:
    return Observed.of([operation], [result])


def operations(aspect: Aspect) -> list[Operation]:
    return [change.operation for change in aspect.changes]


@pytest.mark.parametrize("case", ACCESS["same"], ids=lambda case: case["why"])
def test_lists_that_grant_the_same(case: dict[str, Any]) -> None:
    assert access.same(case["one"], case["other"])


@pytest.mark.parametrize("case", ACCESS["different"], ids=lambda case: case["why"])
def test_lists_that_do_not(case: dict[str, Any]) -> None:
    assert not access.same(case["one"], case["other"])


@pytest.mark.parametrize("text", ACCESS["none"])
def test_what_is_no_list_is_told(text: str) -> None:
    assert access.problem(text) is not None
    assert all(access.problem(sddl) is None for sddl in access.NAMES.values() if sddl)


@given(
    ENTRIES, st.lists(st.sampled_from([r"C:\k", r"C:\Program Files\containerd", r"D:\new"]), max_size=3, unique=True)
)
def test_the_path_loses_nothing_and_gets_what_is_missing_once(before: list[str], wanted: list[str]) -> None:
    text = ";".join(before)
    aspect = path.compare(wanted, seen(path.READING, {"exists": True, "kind": "expand_string", "value": text}))
    after = text
    if aspect.changes:
        [write] = operations(aspect)
        assert (write["kind"], write["expect"]) == ("expand_string", text)
        after = write["value"]
        assert after.startswith(text.rstrip(";"))
    folded = [entry.strip().strip('"').rstrip("\\").lower() for entry in after.split(";")]
    assert all(folded.count(entry.lower()) >= 1 for entry in wanted)
    again = path.compare(wanted, seen(path.READING, {"exists": True, "kind": "expand_string", "value": after}))
    assert not again.changes


def test_a_path_that_is_no_text_is_left_alone() -> None:
    for found in ({"exists": False}, {"exists": True, "kind": "multi_string", "value": ["C:\\"]}):
        aspect = path.compare([r"C:\k"], seen(path.READING, found))
        assert not aspect.changes
        assert aspect.warnings


def test_a_value_of_another_kind_is_written_anew() -> None:
    wanted = Wanted(r"HKLM\SOFTWARE\A", "b", "dword", 1)
    right = {"exists": True, "kind": "dword", "value": 1}
    assert not registry.compare("registry", [wanted], seen(wanted.reading, right)).changes
    [write] = operations(registry.compare("registry", [wanted], seen(wanted.reading, {**right, "kind": "qword"})))
    assert (write["kind"], write["value"], write["expect"]) == ("dword", 1, 1)
    [write] = operations(registry.compare("registry", [wanted], seen(wanted.reading, {"exists": False})))
    assert write["expect"] is None


def test_a_value_that_is_not_to_be_there_is_removed_once() -> None:
    unwanted = Wanted(r"HKLM\SOFTWARE\A", "b", "string", None)
    found = {"exists": True, "kind": "string", "value": "x"}
    assert [one["op"] for one in operations(registry.compare("r", [unwanted], seen(unwanted.reading, found)))] == [
        "registry.remove"
    ]
    assert not registry.compare("r", [unwanted], seen(unwanted.reading, {"exists": False})).changes


FILES = {"exists": True, "kind": "multi_string"}


@pytest.mark.parametrize(
    ("configured", "changes", "shown"),
    [
        ({**FILES, "value": ["?:\\pagefile.sys"]}, 0, "managed by Windows"),
        ({**FILES, "value": ["C:\\pagefile.sys 0 0"]}, 0, "C:\\pagefile.sys, size managed by Windows"),
        ({**FILES, "value": ["D:\\pagefile.sys 4096 8192"]}, 0, "D:\\pagefile.sys 4096 8192"),
        ({**FILES, "value": []}, 1, "managed by Windows"),
        ({**FILES, "value": [""]}, 1, "managed by Windows"),
        ({"exists": False}, 1, "managed by Windows"),
    ],
)
def test_only_a_node_without_a_pagefile_gets_one(configured: Result, changes: int, shown: str) -> None:
    aspect = pagefile.compare(seen(pagefile.CONFIGURED, configured), wanted=True)
    assert len(aspect.changes) == changes
    assert all(change.restart for change in aspect.changes)
    assert aspect.text(after=True) == f"pagefile: {shown}\n"
    assert not pagefile.compare(seen(pagefile.CONFIGURED, configured), wanted=False).changes


def test_a_pagefile_is_waited_for_until_windows_has_opened_it() -> None:
    configured = {**FILES, "value": ["?:\\pagefile.sys"]}
    asked = [pagefile.CONFIGURED, pagefile.OPENED]
    assert pagefile.waiting(Observed.of(asked, [configured, {**FILES, "value": []}]))
    assert not pagefile.waiting(Observed.of(asked, [configured, {**FILES, "value": ["\\??\\C:\\pagefile.sys"]}]))
    assert not pagefile.waiting(Observed.of(asked, [configured, {"exists": False}]))
    assert not pagefile.waiting(Observed.of(asked, [{"exists": False}, {**FILES, "value": []}]))


RULE = Rule("kubelet", "kubelet", "tcp", ("10250", "30000-32767"))


@pytest.mark.parametrize(
    ("change", "changes"),
    [
        ({}, 0),
        ({"local_ports": ["30000-32767", "10250"]}, 0),
        ({"enabled": False}, 1),
        ({"action": "block"}, 1),
        ({"local_ports": []}, 1),
        ({"protocol": "udp"}, 1),
        ({"display_name": "Kubelet"}, 1),
    ],
)
def test_a_rule_is_written_where_it_differs(change: dict[str, Any], changes: int) -> None:
    right = {**RULE.writing, "enabled": True}
    found = {key: right[key] for key in ("display_name", "enabled", "direction", "action", "protocol", "local_ports")}
    [asked] = firewall.reading([RULE])
    aspect = firewall.compare([RULE], seen(asked, {"rules": {"kubelet": {**found, **change}}}))
    assert operations(aspect) == [RULE.writing] * changes
    assert [line.same for line in aspect.lines] == [not changes]


def test_a_rule_that_is_not_to_be_there() -> None:
    rule = Rule("old", "old", "tcp", present=False)
    [asked] = firewall.reading([rule])
    assert not firewall.compare([rule], seen(asked, {"rules": {"old": None}})).changes
    other = {**RULE.writing, "enabled": True}
    [remove] = operations(firewall.compare([rule], seen(asked, {"rules": {"old": other}})))
    assert remove == {"op": "firewall.remove", "name": "old"}


def test_exclusions_are_added_once_whatever_their_case() -> None:
    found = {"present": True, "processes": [r"c:\K\kubelet.exe"], "paths": []}
    aspect = guards.exclusions([r"C:\k\kubelet.exe", r"C:\k\new.exe"], ["C:\\logs\\"], seen(guards.DEFENDER, found))
    [add] = operations(aspect)
    assert (add["processes"], add["paths"]) == ([r"C:\k\new.exe"], ["C:\\logs\\"])
    absent = {"present": False, "processes": [], "paths": []}
    assert not guards.exclusions([r"C:\a.exe"], [], seen(guards.DEFENDER, absent)).changes


def test_a_windows_without_power_schemes_is_left_alone() -> None:
    assert not guards.power(guards.SCHEMES["high_performance"], seen(guards.POWER, {"scheme": None})).changes
    balanced = {"scheme": guards.SCHEMES["balanced"]}
    assert not guards.power(None, seen(guards.POWER, balanced)).changes
    [write] = operations(guards.power(guards.SCHEMES["high_performance"], seen(guards.POWER, balanced)))
    assert write == {"op": "power.write", "scheme": guards.SCHEMES["high_performance"]}


SERVICE = {"exists": True, "state": "running", "start_type": "automatic", "binary_path": "svchost.exe"}


@pytest.mark.parametrize(
    ("change", "steps"),
    [
        ({}, []),
        ({"start_type": "delayed"}, []),
        ({"start_type": "manual"}, ["service.define"]),
        ({"state": "stopped"}, []),
        ({"state": "stopped", "start_type": "disabled"}, ["service.define", "service.restart"]),
    ],
)
def test_the_time_service_starts_by_itself_and_stays_stopped_where_windows_stops_it(
    change: dict[str, Any], steps: list[str]
) -> None:
    observed = seen(clock.READING, {**SERVICE, **change})
    assert [one["op"] for one in operations(clock.compare([], observed, managed=True))] == steps
    assert not clock.compare([], observed, managed=False).changes


def test_new_time_servers_are_asked_at_once() -> None:
    servers = ["a.example", "b.example"]
    asked = [value.reading for value in clock.values(servers)]
    windows: list[Result] = [{"exists": True, "kind": "string", "value": "time.windows.com,0x8"}, {"exists": False}]
    observed = Observed.of([clock.READING, *asked], [SERVICE, *windows])
    aspect = clock.compare(servers, observed, managed=True)
    assert [one["op"] for one in operations(aspect)] == ["registry.write", "registry.write", "service.restart"]
    assert operations(aspect)[0]["value"] == "a.example,0x8 b.example,0x8"


def test_a_folder_is_made_and_kept_from_others_once() -> None:
    folder = Folder("C:\\etc\\kubernetes", access.ADMINISTRATORS)
    new = folders.compare([folder], seen(folder.reading, {"exists": False}))
    assert [change.label for change in new.changes] == ["make folder C:\\etc\\kubernetes"]
    assert new.text(after=False) == ""
    right = {"exists": True, "access": "D:PAI(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)", "owner": "S-1-5-32-544"}
    assert not folders.compare([folder], seen(folder.reading, right)).changes
    wrong = {**right, "access": "D:AI(A;OICIID;0x1200a9;;;BU)"}
    [change] = folders.compare([folder], seen(folder.reading, wrong)).changes
    assert change.label == "set access to folder C:\\etc\\kubernetes"
    anyone = Folder("C:\\var\\lib\\kubelet")
    assert not folders.compare([anyone], seen(anyone.reading, wrong)).changes


def test_an_account_in_an_address_is_masked() -> None:
    wanted = Wanted(r"HKLM\SOFTWARE\A", "proxy", "string", "http://user:secret@proxy.example:3128")
    aspect = registry.compare("registry", [wanted], seen(wanted.reading, {"exists": False}))
    assert "secret" not in aspect.text(after=True)
    assert masked("https://proxy.example") == "https://proxy.example"
