"""Configuration as people may see it: in a diff or a result, with every secret masked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import yaml

from lockstep.containerd.scan import Entry, entries_of
from lockstep.kubelet.arguments import split
from lockstep.kubelet.service_line import normal_name
from lockstep.words import MASK

_BOM = "\ufeff"

# registry credentials in containerd's file; a value may be any kind of TOML string.
# Source: containerd docs/cri/registry.md (`auth`: username, password, auth, identitytoken).
_TOML_SECRET = re.compile(
    r"""((?:["']?)\b(?:password|auth|identitytoken)\b["']?[ \t]*=[ \t]*)"""
    r"""("{3}.*?"{3}|'{3}.*?'{3}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')""",
    re.IGNORECASE | re.DOTALL,
)
# Source: containerd internal/cri/config/config.go, Registry.Headers ("HTTP headers that get sent to all registries").
_HEADERS = ("registry", "headers")
# Source: containerd docs/hosts.md, "header fields".
_HEADER = "header"
# Headers that kubelet sends to fetch static pods; kubelet itself hides them when it logs its configuration.
# Source: kubernetes/kubernetes cmd/kubelet/app/server.go, "make the kubelet's config safe for logging".
_MASKED_FIELD = "staticPodURLHeader"
_MASKED_FLAG = "manifest-url-header"
_YAML_SECRET = re.compile(rf"^({_MASKED_FIELD}[ \t]*:).*(?:(?:\r?\n(?:[ \t]*|#.*))*\r?\n[ \t-]+\S.*)*", re.MULTILINE)

_NOT_MASKED = "# Not shown: this file is written in a form in which secrets cannot be masked.\n"
_NOT_SHOWN = f"# Not shown: {_MASKED_FIELD} is written in a form in which it cannot be masked.\n"


def shown_toml(data: bytes | None) -> str:
    """Return containerd's configuration as text to show; empty where there is no file."""
    text = _hidden(_decoded(data), lambda path: any(pair == _HEADERS for pair in pairwise(path[:-1])))
    return _TOML_SECRET.sub(rf'\1"{MASK}"', text)


def shown_hosts(data: bytes | None) -> str:
    """Return a registry's hosts.toml as text to show: no value of a header; empty where there is no file."""
    text = _hidden(_decoded(data), lambda path: _HEADER in path[:-1])
    try:
        hidden = all(value == MASK for value in _header_values(tomllib.loads(text.removeprefix(_BOM))))
    except ValueError:
        hidden = False
    return text if hidden else _NOT_MASKED


def shown_yaml(data: bytes | None) -> str:
    """Return kubelet's configuration as text to show; empty where there is no file."""
    text = _YAML_SECRET.sub(rf'\1 "{MASK}"', _decoded(data))
    return text if _MASKED_FIELD not in text or _is_masked(text) else _NOT_SHOWN


def masked_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return KubeletConfiguration fields as data to show."""
    return {name: MASK if name == _MASKED_FIELD else value for name, value in fields.items()}


def shown_command_line(line: str) -> str:
    """Return the command line of kubelet's service as text to show."""
    arguments = split(line)
    pieces, at = [], 0
    for argument, following in zip(arguments, [*arguments[1:], None], strict=True):
        name, equals, _ = argument.value.partition("=")
        hidden = argument if equals else following
        if name.startswith("--") and normal_name(name) == _MASKED_FLAG and hidden:
            pieces += [line[at : hidden.start], f"{name}={MASK}" if equals else MASK]
            at = hidden.end
    return "".join(pieces) + line[at:]


def masked_flags(flags: Mapping[str, str]) -> dict[str, str]:
    """Return kubelet's flags as data to show."""
    return {name: MASK if name == _MASKED_FLAG else value for name, value in flags.items()}


def _hidden(text: str, hidden: Callable[[list[str]], bool]) -> str:
    """Return TOML with the values of the entries masked whose path, in lower case, is to be hidden."""
    for entry in reversed(list(_entries(text, hidden))):
        text = f'{text[: entry.start]}"{MASK}"{text[entry.end :]}'
    return text


def _entries(text: str, hidden: Callable[[list[str]], bool]) -> Iterator[Entry]:
    """Yield the entries to hide, by their path in lower case, of a text that is TOML; none of another text."""
    text = text.replace(_BOM, " ", 1) if text.startswith(_BOM) else text
    try:
        tomllib.loads(text)
    except ValueError:
        return
    entries = [entry for _, entry in entries_of(text)]
    while entries:
        entry = entries.pop(0)
        if hidden([name.lower() for name in entry.path]):
            yield entry
        else:
            entries = [*(entry.inline or ()), *entries]


def _header_values(data: Any, *, inside: bool = False) -> Iterator[Any]:
    """Yield every value in a table of headers, wherever that is."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield from _header_values(value, inside=inside or name.lower() == _HEADER)
    elif isinstance(data, list):
        for value in data:
            yield from _header_values(value, inside=inside)
    elif inside:
        yield data


def _is_masked(text: str) -> bool:
    """Return whether nothing is left of the field: a file may be JSON, or have the key in quotes."""
    try:
        fields = yaml.safe_load(text)
    except yaml.YAMLError:
        return False
    return not isinstance(fields, Mapping) or fields.get(_MASKED_FIELD, MASK) == MASK


def _decoded(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", errors="replace")
