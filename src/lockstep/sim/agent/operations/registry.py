r"""The registry below HKEY_LOCAL_MACHINE: `registry.json` has `{key: {name: {"kind": …, "value": …}}}`.

A key's path there has no `HKLM\`. Names are found whatever their case, and stay as they are spelt.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from lockstep.node.contract import ContractError
from lockstep.sim.agent.failure import OperationError
from lockstep.sim.agent.journal import Step
from lockstep.sim.agent.table import Apply, Context, Group, Kind, Operation, Result

STATE = "registry"
_LARGEST = {"dword": 2**32 - 1, "qword": 2**64 - 1}
_KINDS = ("string", "expand_string", "multi_string", "dword", "qword", "binary")

Keys = dict[str, dict[str, Any]]


def path_of(key: str) -> str:
    r"""Return a key's path below HKEY_LOCAL_MACHINE."""
    return re.sub(r"\\+", r"\\", key).removeprefix("HKLM\\").strip("\\")


def _spelt(names: Any, wanted: str) -> str | None:
    """Return a name as it is spelt there."""
    return next((name for name in names if name.lower() == wanted.lower()), None)


def _exists(keys: Keys, path: str) -> bool:
    """Whether a key is there, with values or with keys below it."""
    return any(f"{key}\\".lower().startswith(f"{path}\\".lower()) for key in keys)


def find(keys: Keys, path: str, name: str) -> dict[str, Any]:
    """Return a value as registry.read tells it."""
    key = _spelt(keys, path)
    spelt = _spelt(keys[key], name) if key is not None else None
    if key is None or spelt is None:
        return {"exists": False}
    entry = keys[key][spelt]
    if entry["kind"] not in _KINDS:
        return {"exists": True, "kind": "other"}
    return {"exists": True, "kind": entry["kind"], "value": entry["value"]}


def _keep(context: Context, keys: Keys, label: str) -> None:
    context.keep(STATE, keys, label)


def _set(context: Context, path: str, name: str, kind: str, value: Any) -> None:
    _allow(context, path)
    keys: Keys = context.state(STATE)
    values = keys.setdefault(_spelt(keys, path) or path, {})
    values[_spelt(values, name) or name] = {"kind": kind, "value": value}
    _keep(context, keys, f"write HKLM\\{path}, value {name}")


def _delete(context: Context, path: str, name: str) -> None:
    _allow(context, path)
    keys: Keys = context.state(STATE)
    key = _spelt(keys, path)
    spelt = _spelt(keys[key], name) if key is not None else None
    if key is not None and spelt is not None:
        del keys[key][spelt]
        _keep(context, keys, f"remove HKLM\\{path}, value {name}")


def _allow(context: Context, path: str) -> None:
    if context.faults.holds("denied", f"HKLM\\{path}"):
        raise OperationError("denied", "Requested registry access is not allowed.")


def _read(context: Context, operation: Operation) -> Result:
    return find(context.state(STATE), path_of(operation["key"]), operation["name"])


def _check(operation: Operation) -> None:
    kind, value = operation["kind"], operation["value"]
    if kind in _LARGEST:
        fits = isinstance(value, int) and 0 <= value <= _LARGEST[kind]
    elif kind == "multi_string":
        fits = isinstance(value, list) and "" not in value
    else:
        fits = isinstance(value, str) and (kind != "binary" or _is_base64(value))
    if not fits:
        where = f"{operation['key']}, value '{operation['name']}'"
        raise ContractError(f"{where}: what is to be written is no {kind}.")


def _is_base64(value: str) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except binascii.Error:
        return False
    return True


def _former(context: Context, operation: Operation) -> list[Step]:
    path, name = path_of(operation["key"]), operation["name"]
    keys: Keys = context.state(STATE)
    parts = path.split("\\")
    above = ["\\".join(parts[:count]) for count in range(1, len(parts) + 1)]
    made = [key for key in above if not _exists(keys, key)]
    state = {"key": operation["key"], "value_name": name, "made": made, "former": find(keys, path, name)}
    # A key's path never has two backslashes, so this names one value and no other.
    return [Step("registry", f"HKLM\\{path}\\\\{name}", state)]


def _expect(found: Result, operation: Operation) -> None:
    # True is 1 for Python, and a number is not a text.
    value, expected = found.get("value"), operation["expect"]
    if found.get("kind") == "other" or value != expected or type(value) is not type(expected):
        where = f"{operation['key']}, value '{operation['name']}'"
        raise OperationError("conflict", f"{where}, was changed by somebody else since it was read.")


def _write(context: Context, operation: Operation, step: Step) -> Result:
    found = _read(context, operation)
    wanted = {"exists": True, "kind": operation["kind"], "value": operation["value"]}
    if found == wanted:
        return {"changed": False}
    _expect(found, operation)
    step.touched = True
    _set(context, path_of(operation["key"]), operation["name"], operation["kind"], operation["value"])
    return {"changed": True}


def _remove(context: Context, operation: Operation, step: Step) -> Result:
    found = _read(context, operation)
    if not found["exists"]:
        return {"changed": False}
    _expect(found, operation)
    step.touched = True
    _delete(context, path_of(operation["key"]), operation["name"])
    return {"changed": True}


def _undo(context: Context, step: Step) -> None:
    path, name, former = path_of(step.state["key"]), step.state["value_name"], step.state["former"]
    # What has no word in the contract was a conflict, and was left alone.
    if former.get("kind") == "other":
        return
    found = find(context.state(STATE), path, name)
    if former["exists"]:
        if found != former:
            _set(context, path, name, former["kind"], former["value"])
        return
    if found["exists"]:
        _delete(context, path, name)
    for key in reversed(step.state["made"]):
        keys: Keys = context.state(STATE)
        spelt = _spelt(keys, key)
        if spelt is not None and not keys[spelt] and not _exists({k: v for k, v in keys.items() if k != spelt}, key):
            del keys[spelt]
            _keep(context, keys, f"remove HKLM\\{key}")


GROUP = Group(
    reads={"registry.read": _read},
    applies={
        "registry.write": Apply(_write, _former, _check),
        "registry.remove": Apply(_remove, _former),
    },
    kinds={"registry": Kind(_undo)},
)
