"""The contract with the agent: what may be asked of a node, and what it may answer.

`contract/` is the only list of operations: `envelope.json` has what all requests and responses share, every other file
the operations of one group. Checking against it is done here, with the few JSON Schema keywords that the contract uses,
so that an Ansible worker need not import a schema library for every task.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

CONTRACT_VERSION = 1
GROUPS = (
    "system",
    "file",
    "folder",
    "registry",
    "service",
    "program",
    "feature",
    "firewall",
    "defender",
    "power",
    "certificate",
    "store",
    "transaction",
)
"""The groups of operations: a file of the contract, a part of the agent and one of the simulated node each."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


class ContractError(ValueError):
    """A request or a response is not of the contract; the text names the place and what was expected there."""


@functools.cache
def contract() -> Mapping[str, Any]:
    """Return the contract as data: the envelope, and `operations` of all groups in the order of GROUPS."""
    folder = files(__package__).joinpath("contract")

    def read(name: str) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(folder.joinpath(f"{name}.json").read_text("ascii"))
        return data

    operations = {name: operation for group in GROUPS for name, operation in read(group).items()}
    return {**read("envelope"), "operations": operations}


def check_request(request: Mapping[str, Any]) -> None:
    """Raise ContractError unless `request` is a request of the contract, each operation with its arguments.

    Operations that only read belong to mode `read`, those that change something to mode `apply`,
    which names a transaction.
    """
    _check(contract()["request"], request, "request")
    mode = request["mode"]
    if (mode == "apply") != ("transaction" in request):
        raise ContractError("request: `apply` needs `transaction`, and `read` must not have one")
    for index, operation in enumerate(request["operations"]):
        where = f"operations[{index}]"
        definition = _definition(operation, where)
        if definition["mode"] != mode:
            raise ContractError(f"{where}: {operation['op']} belongs to mode {definition['mode']}, not {mode}")
        _check(definition["arguments"], operation, where)
        _check_program(operation, where)


def check_response(request: Mapping[str, Any], response: Any) -> None:
    """Raise ContractError unless `response` is an answer to `request` as the contract has it."""
    _check(contract()["response"], response, "response")
    operations, results = request["operations"], response["results"]
    if len(results) > len(operations):
        raise ContractError(f"response: {len(results)} results for {len(operations)} operations")
    for index, result in enumerate(results):
        where = f"results[{index}]"
        definition = _definition(result, where)
        if result["op"] != operations[index]["op"]:
            raise ContractError(f"{where}: is of {result['op']}, but {operations[index]['op']} was asked for")
        if result["ok"]:
            _check(definition["result"], result, where)
            continue
        _check(contract()["definitions"]["failed_result"], result, where)
        if result["error"]["code"] not in (*definition["errors"], *contract()["errors_of_any"]):
            raise ContractError(f"{where}: {result['op']} has no error {result['error']['code']!r}")
    _check_outcome(request, response)


def _check_outcome(request: Mapping[str, Any], response: Mapping[str, Any]) -> None:
    """Check what a schema of single values cannot say: how `ok`, `error`, `failed_step` and results agree."""
    if response["mode"] != request["mode"]:
        raise ContractError(f"response: mode is {response['mode']}, but {request['mode']} was asked for")
    complete = len(response["results"]) == len(request["operations"])
    if response["ok"] and not complete:
        raise ContractError("response: ok, but not every operation has a result")
    if response["ok"] and response["mode"] == "apply" and not all(result["ok"] for result in response["results"]):
        raise ContractError("response: ok, but an operation failed")
    if not response["ok"] and not ("error" in response or "failed_step" in response):
        raise ContractError("response: not ok, but neither error nor failed_step says why")
    step = response.get("failed_step")
    if step is not None and (step != len(response["results"]) - 1 or response["results"][step]["ok"]):
        raise ContractError("response: failed_step does not name the last result, or that did not fail")


def _definition(item: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    operations: Mapping[str, Mapping[str, Any]] = contract()["operations"]
    op = item["op"]
    if not isinstance(op, str) or op not in operations:
        raise ContractError(f"{where}: unknown operation {op!r}; known: {', '.join(operations)}")
    return operations[op]


def _check_program(operation: Mapping[str, Any], where: str) -> None:
    """Check that `program.*` names its program in one of two ways, which the schema says in words only."""
    if not operation["op"].startswith("program."):
        return
    if ("path" in operation) == ("service" in operation):
        raise ContractError(f"{where}: {operation['op']} needs either `path` or `service`")
    if "sibling" in operation and "service" not in operation:
        raise ContractError(f"{where}: `sibling` goes with `service`")


def _check(schema: Mapping[str, Any], value: Any, where: str) -> None:
    """Check `value` against the part of JSON Schema (draft 7) that the contract uses.

    ContractError names the first place that is wrong.
    """
    if "$ref" in schema:
        _check(contract()["definitions"][schema["$ref"].rpartition("/")[2]], value, where)
        return
    if "anyOf" in schema:
        _check_any(schema["anyOf"], value, where)
    if "const" in schema and not (value == schema["const"] and type(value) is type(schema["const"])):
        raise ContractError(f"{where}: expected {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        raise ContractError(f"{where}: expected one of {', '.join(map(str, schema['enum']))}")
    if "type" in schema and not _is(value, schema["type"]):
        raise ContractError(f"{where}: expected {schema['type']}, got {type(value).__name__}")
    if isinstance(value, str):
        _check_text(schema, value, where)
    elif isinstance(value, dict):
        _check_object(schema, value, where)
    elif isinstance(value, list):
        _check_array(schema, value, where)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_number(schema, value, where)


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name]) or (name == "integer" and isinstance(value, float) and value.is_integer())


def _check_any(schemas: list[Mapping[str, Any]], value: Any, where: str) -> None:
    problems = []
    for schema in schemas:
        try:
            _check(schema, value, where)
        except ContractError as error:
            problems.append(str(error))
        else:
            return
    raise ContractError("; or ".join(problems))


def _check_text(schema: Mapping[str, Any], value: str, where: str) -> None:
    if len(value) < schema.get("minLength", 0):
        raise ContractError(f"{where}: must not be empty")
    # JSON Schema's `$` is the very end, Python's also matches before a last newline.
    if "pattern" in schema and not re.search(re.sub(r"\$$", r"\\Z", schema["pattern"]), value):
        raise ContractError(f"{where}: does not match {schema['pattern']}")


def _check_number(schema: Mapping[str, Any], value: float, where: str) -> None:
    if value < schema.get("minimum", value):
        raise ContractError(f"{where}: must be at least {schema['minimum']}")
    if value > schema.get("maximum", value):
        raise ContractError(f"{where}: must be at most {schema['maximum']}")


def _check_object(schema: Mapping[str, Any], value: dict[str, Any], where: str) -> None:
    properties = schema.get("properties", {})
    missing = [key for key in schema.get("required", ()) if key not in value]
    if missing:
        raise ContractError(f"{where}: lacks {', '.join(missing)}")
    unknown = [str(key) for key in value if key not in properties]
    if unknown and schema.get("additionalProperties") is False:
        raise ContractError(f"{where}: does not know {', '.join(unknown)}")
    others = schema.get("additionalProperties")
    for key, item in value.items():
        if key in properties:
            _check(properties[key], item, f"{where}.{key}")
        elif isinstance(others, dict):
            _check(others, item, f"{where}.{key}")


def _check_array(schema: Mapping[str, Any], value: list[Any], where: str) -> None:
    if len(value) < schema.get("minItems", 0):
        raise ContractError(f"{where}: must not be empty")
    for index, item in enumerate(value):
        if "items" in schema:
            _check(schema["items"], item, f"{where}[{index}]")
