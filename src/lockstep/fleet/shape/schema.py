"""The published JSON Schema of a description, made from the specification that the validator reads.

`python -m lockstep.fleet.shape.schema` writes it to standard output; editors complete and check with it. It covers
a file with `lockstep_fleet` beside other variables, and one whose top is the description itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lockstep.fleet.shape.kinds import Kind
from lockstep.fleet.shape.spec import FLEET, VARIABLE, Field, Free, Items, Record, Shape, Table, WordOr

PUBLISHED = Path(__file__).parents[1] / "lockstep-fleet.schema.json"

_FLEET = {"$ref": "#/definitions/fleet"}


def schema() -> dict[str, Any]:
    """Return the schema, in draft 7, which editors know best."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": VARIABLE,
        "description": "Everything that the Windows side of one Kubernetes cluster should be.",
        "type": "object",
        "properties": {VARIABLE: _FLEET},
        "if": {"required": [VARIABLE]},
        "else": _FLEET,
        "definitions": {"fleet": _shape(FLEET)},
    }


def text() -> str:
    """Return the published file's content."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _shape(shape: Shape) -> dict[str, Any]:
    match shape:
        case Kind():
            return dict(shape.schema())
        case Record():
            return _record(shape)
        case Table():
            return {
                "type": "object",
                "propertyNames": dict(shape.key.schema()),
                "additionalProperties": _shape(shape.value),
            } | ({} if shape.empty else {"minProperties": 1})
        case Items():
            return {"type": "array", "items": _shape(shape.item), "uniqueItems": shape.unique} | (
                {} if shape.empty else {"minItems": 1}
            )
        case WordOr():
            return {"anyOf": [{"const": shape.word}, _record(shape.shape)]}
        case Free():
            return {"type": "object"}


def _record(record: Record) -> dict[str, Any]:
    required = [name for name, field in record.fields.items() if field.required and not field.unless_in]
    shared = [
        {"anyOf": [{"required": [name]}, {"properties": {field.unless_in: _each_has(name)}}]}
        for name, field in record.fields.items()
        if field.unless_in
    ]
    return {
        "type": "object",
        "properties": {name: _field(field) for name, field in record.fields.items()},
        "additionalProperties": False,
        **({"required": required} if required else {}),
        **({"allOf": shared} if shared else {}),
    }


def _each_has(name: str) -> dict[str, Any]:
    return {"additionalProperties": {"required": [name]}}


def _field(field: Field) -> Mapping[str, Any]:
    return {"description": field.doc, **_shape(field.shape)}


if __name__ == "__main__":
    sys.stdout.write(text())
