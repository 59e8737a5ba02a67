"""Whatever a file looks like: merging gives the planned data, again changes nothing, and other lines stay."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep.kubelet.configuration import (
    inspect_configuration,
    merge_configuration,
    remove_configuration,
    same,
)
from lockstep.kubelet.problem import KubeletConfigError

VERSION = "1.36.1"
HEAD = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
NAMES = [
    "maxPods",
    "resolvConf",
    "clusterDNS",
    "evictionHard",
    "featureGates",
    "registerWithTaints",
    "logging",
    "on",
    "no",
]
INNER = ["memory.available", "nodefs.available", "Gate", "enabled", "y"]

TEXTS = [
    "a",
    "yes",
    "off",
    "Null",
    "~",
    "0110",
    "1e3",
    "1.30",
    "0x1F",
    "1:30",
    "2001-01-01",
    "C:\\var\\lib",
    "500m",
    "10%",
    "2Gi",
    "npipe:////./pipe/x",
    "#no",
    "'",
    '"',
    "é😀",
    "[x]",
    "{y}",
    "&a",
    "*a",
    "!t",
    "@",
    "`",
    "?",
    ":",
    "10.0.0.1",
    "=",
    "<<",
    "0s",
    "1_000",
    "-",
    "%d",
    "|",
    ">",
    "_",
    "true",
    "n",
]
words = st.sampled_from(["", "a: b", "- a", "a #c", " pad ", "tab\there", "line\nbreak", *TEXTS])
scalars = st.one_of(words, st.booleans(), st.integers(-5, 10**12), st.sampled_from([0.5, 1e-7, -2.25]))
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(INNER), inner, max_size=3),
    max_leaves=6,
)
fields = st.dictionaries(st.sampled_from(NAMES), values | st.none(), max_size=6)


@dataclass(frozen=True, eq=False)
class Line:
    """A line of a generated file, and the path of the entry it belongs to: () for a comment, a blank line, a marker."""

    text: str
    owner: tuple[str, ...]


def plain_merge(current: dict[str, Any], planned: dict[str, Any]) -> dict[str, Any]:
    result = dict(current)
    for key, value in planned.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = plain_merge(result[key], value)
        else:
            result[key] = value
    return result


def quote(value: Any, draw: st.DrawFn) -> str:
    """Spell a scalar in one of the ways a person might."""
    if not isinstance(value, str):
        return (
            {True: "true", False: "false"}[value] if isinstance(value, bool) else yaml.safe_dump(value).split("\n")[0]
        )
    printable = all(" " <= c <= "~" for c in value)
    forms = (
        ['"' + value.encode("unicode_escape").decode().replace('"', '\\"') + '"']
        if printable and "\\" not in value
        else []
    )
    if printable:
        forms.append("'" + value.replace("'", "''") + "'")
    if value.isidentifier() and yaml.safe_load(value) == value and value not in ("y", "n"):
        forms += [value, value]
    forms = forms or [yaml.safe_dump(value, default_style='"', width=4096).rstrip("\n")]
    return draw(st.sampled_from(forms))


def flow(value: Any, draw: st.DrawFn) -> str:
    space = draw(st.sampled_from(["", " ", "  "]))
    if isinstance(value, dict):
        return (
            "{" + f",{space} ".join(f"{quote(k, draw)}: {space}{flow(v, draw)}" for k, v in value.items()) + space + "}"
        )
    if isinstance(value, list):
        return f"[{space}" + f",{space}".join(flow(v, draw) for v in value) + "]"
    return quote(value, draw)


def entry(key: str, value: Any, indent: int, path: tuple[str, ...], draw: st.DrawFn) -> list[Line]:
    """Write one entry of a block mapping, with comments and spacing as people leave them."""
    own, margin = (*path, key), " " * indent
    comment = draw(st.sampled_from(["", "", "   # why", " #"]))
    before = draw(
        st.sampled_from([[], [], [Line("", ())], [Line(f"{margin}# about {key}", ())], [Line("# deep: [", ())]])
    )
    head = f"{margin}{quote(key, draw)}:"
    if isinstance(value, dict) and value and draw(st.booleans()):
        step = draw(st.sampled_from([2, 4]))
        lines = [line for k, v in value.items() for line in entry(k, v, indent + step, own, draw)]
        return [*before, Line(head + comment, own), *lines]
    if isinstance(value, list) and value and draw(st.booleans()):
        at = " " * (indent + draw(st.sampled_from([0, 2])))
        lines = [Line(f"{at}- {flow(item, draw)}{draw(st.sampled_from(['', ' # it']))}", own) for item in value]
        return [*before, Line(head + comment, own), *lines]
    if isinstance(value, str) and value in {"a", "a #c", "{y}"} and draw(st.booleans()):
        return [*before, Line(f"{head} |-", own), Line(f"{margin}  {value}", own)]
    gap = draw(st.sampled_from([" ", "   "]))
    return [*before, Line(f"{head}{gap}{flow(value, draw)}{comment}", own)]


@st.composite
def files(draw: st.DrawFn) -> tuple[list[Line], str, bool, dict[str, Any]]:
    """Return a file's lines, its line end, whether the last line has one, and its data."""
    data = HEAD | draw(st.dictionaries(st.sampled_from(NAMES), values, max_size=6))
    names = draw(st.permutations(list(data)))
    indent = draw(st.sampled_from([0, 0, 0, 2]))
    start = draw(st.sampled_from([[], ["---"], ["# top", "--- # start"], ["%YAML 1.1", "---"]]))
    end = draw(st.sampled_from([[], [], ["# end"], ["", ""], ["..."], ["# end", "...", "# after"]]))
    lines = [Line(text, ()) for text in start]
    for name in names:
        lines += entry(name, data[name], indent, (), draw)
    lines += [Line(text, ()) for text in end]
    return lines, draw(st.sampled_from(["\n", "\r\n"])), draw(st.booleans()), data


def text_of(lines: list[Line], newline: str, *, final: bool) -> str:
    return newline.join(line.text for line in lines) + (newline if final else "")


def touched(owner: tuple[str, ...], current: Any, planned: Any) -> bool:
    """Return whether planned fields change the entry at `owner`, or what it is in."""
    if not owner:
        return False
    if not isinstance(planned, dict) or owner[0] not in planned:
        return False
    new, old = planned[owner[0]], current[owner[0]]
    if isinstance(new, dict) and isinstance(old, dict) and old:
        return touched(owner[1:], old, new) if owner[1:] else False
    return True


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(files(), fields, st.sampled_from([b"", b"\xef\xbb\xbf"]))
def test_merging_is_exact_idempotent_and_keeps_every_other_line(
    file: tuple[list[Line], str, bool, dict[str, Any]], planned: dict[str, Any], mark: bytes
) -> None:
    lines, newline, final, data = file
    text = text_of(lines, newline, final=final)
    before = mark + text.encode()
    assert same(yaml.safe_load(text), data), "the test's own writer"

    after = merge_configuration(before, planned, VERSION)
    result = after.decode("utf-8-sig")

    assert same(yaml.safe_load(result), plain_merge(data, planned))
    assert merge_configuration(after, planned, VERSION) == after
    assert after.startswith(b"\xef\xbb\xbf") is bool(mark)
    if newline == "\r\n":
        assert "\n" not in result.replace("\r\n", "")
    else:
        assert "\r" not in result
    if text.endswith("\n"):
        assert result.endswith("\n")
    kept = iter(result.split(newline))
    for line in lines:
        inside = any(touched(line.owner[:depth], data, planned) for depth in range(1, len(line.owner) + 1))
        if "{" not in line.text and not inside and line.text.strip() and not hidden(line, lines, data, planned):
            assert line.text in kept, f"lost or moved: {line.text!r}"


def hidden(line: Line, lines: list[Line], data: dict[str, Any], planned: dict[str, Any]) -> bool:
    """Return whether a comment stands inside a value that is replaced or removed."""
    if line.owner:
        return False
    at = lines.index(line)
    above = next((other.owner for other in reversed(lines[:at]) if other.owner), ())
    below = next((other.owner for other in lines[at:] if other.owner), ())
    if any(touched(below[:depth], data, planned) for depth in range(1, len(below))):
        return True
    return bool(above) and above[:1] == below[:1] and touched(above[:1], data, planned)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(files(), fields)
def test_removing_what_was_added_leaves_nothing_of_it(
    file: tuple[list[Line], str, bool, dict[str, Any]], planned: dict[str, Any]
) -> None:
    lines, newline, final, data = file
    before = text_of(lines, newline, final=final).encode()
    new = {name: value for name, value in planned.items() if name not in data and value is not None}
    merged = merge_configuration(before, new, VERSION)
    removed = remove_configuration(merged, new, VERSION)
    assert removed is not None
    assert same(yaml.safe_load(removed), data)
    assert remove_configuration(removed, new, VERSION) == removed
    assert removed.rstrip(b"\r\n") == before.rstrip(b"\r\n")


@settings(max_examples=150, deadline=None)
@given(fields)
def test_a_new_file_reads_as_planned(planned: dict[str, Any]) -> None:
    data = merge_configuration(None, planned, VERSION)
    assert same(yaml.safe_load(data), plain_merge(HEAD, strip(planned)))
    assert merge_configuration(data, planned, VERSION) == data
    assert dict(inspect_configuration(data).fields) == strip(planned)


def strip(planned: dict[str, Any]) -> dict[str, Any]:
    return {
        key: strip(value) if isinstance(value, dict) else value for key, value in planned.items() if value is not None
    }


REALISTIC = sorted((Path(__file__).with_name("files")).glob("*.yaml"))


@pytest.mark.parametrize("path", REALISTIC, ids=lambda path: path.stem)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_file_gives_one_error_or_the_right_result(path: Path, data: st.DataObject) -> None:
    text = path.read_bytes().decode()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 3))
        put = data.draw(st.text("{}[]:,-#&*!|>'\"%@`?~ \t\n\r\\<=a0\x00\u2028", max_size=3))
        text = text[:at] + put + text[at + cut :]
    planned = data.draw(fields)
    with suppress(KubeletConfigError):
        after = merge_configuration(text.encode(), planned, VERSION)
        assert merge_configuration(after, planned, VERSION) == after
