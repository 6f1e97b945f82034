"""Values that are made of a schema: what the attacks call a user's tools with."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from loopworth.workflows.attacks.samples import values

SCHEMAS: list[dict[str, Any]] = [
    {"type": "string", "minLength": 3, "maxLength": 5},
    {"type": "string", "pattern": "^ORD-[0-9]{4}$"},
    {"type": "integer", "minimum": 250},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "integer", "multipleOf": 7},
    {"type": ["string", "null"]},
    {"anyOf": [{"type": "boolean"}, {"const": 5}]},
    {"type": "array", "items": {"enum": ["x", "y", "z"]}, "minItems": 2},
    {
        "type": "object",
        "properties": {"to": {"$ref": "#/$defs/to"}, "n": {"type": "integer"}},
        "required": ["to"],
        "$defs": {"to": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
    },
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_several_values_fit_the_schema(schema: dict[str, Any]) -> None:
    """Not all that are made do; who uses them checks them."""
    fitting = [value for value in values(schema) if jsonschema.Draft202012Validator(schema).is_valid(value)]
    assert len({str(value) for value in fitting}) > 1


def test_what_is_mentioned_is_tried_and_what_is_beside_it() -> None:
    """A condition `amount > 4321` divides just there."""
    assert {4320, 4321, 4322} <= set(values({"type": "integer"}, [4321]))
    assert "Zoe" in values({"type": "string"}, ["Zoe"])


def test_a_schema_that_holds_itself_has_an_end() -> None:
    tree = {"type": "object", "properties": {"below": {"$ref": "#"}, "n": {"type": "integer"}}}
    assert len(values(tree)) > 1
