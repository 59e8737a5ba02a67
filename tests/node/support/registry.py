"""What the registry has before a case, for each engine: {"HKLM\\key": {name: {kind: …, value: …}}}.

Kinds and values are as the contract has them.
The kind `none` stands for all that the contract has no word for; it has no value.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

FILE = "C:\\lockstep-stubs\\registry.json"
Keys = Mapping[str, Mapping[str, Mapping[str, Any]]]

_TYPES = {
    "string": "REG_SZ",
    "expand_string": "REG_EXPAND_SZ",
    "multi_string": "REG_MULTI_SZ",
    "dword": "REG_DWORD",
    "qword": "REG_QWORD",
    "binary": "REG_BINARY",
    "none": "REG_NONE",
}


def merged(text: str | None, keys: Keys) -> str:
    """Return a registry's file with these keys added."""
    registry = json.loads(text) if text else {}
    for key, values in keys.items():
        registry.setdefault(key, {}).update(values)
    return json.dumps(registry)


def emulated(keys: Keys) -> Keys:
    """Return the keys as the emulated engine names them."""
    return {key.removeprefix("HKLM\\"): values for key, values in keys.items()}


def commands(keys: Keys) -> Iterator[list[str]]:
    """Yield the arguments of reg.exe that make keys and values."""
    for key, values in keys.items():
        yield ["add", key, "/f"]
        for name, entry in values.items():
            named = ["/v", name] if name else ["/ve"]
            yield ["add", key, *named, "/t", _TYPES[entry["kind"]], "/d", _data(entry), "/f"]


def _data(entry: Mapping[str, Any]) -> str:
    value = entry.get("value", "")
    if entry["kind"] == "multi_string":
        return "\\0".join(value)
    return base64.b64decode(value).hex() if entry["kind"] == "binary" else str(value)
