"""A schema in the part of the language that constrains a reply, or none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loopworth.models.dialects.closed_schema import closed


def test_objects_are_closed_and_bounds_are_said_in_words() -> None:
    """What cannot be kept is told in the description."""
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 1, "description": "How many."},
            "code": {"type": "string", "pattern": "[A-Z]+", "format": "regex"},
            "when": {"type": "string", "format": "date"},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2},
            "either": {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/x"}]},
        },
        "required": ["n"],
        "$defs": {"x": {"type": "object", "properties": {}, "additionalProperties": False}},
    }
    found = closed(schema)
    assert found is not None
    assert found["additionalProperties"] is False
    assert found["required"] == ["n"]
    assert found["properties"]["n"] == {"type": "integer", "description": 'How many.\n\n{"minimum": 1}'}
    assert found["properties"]["code"]["description"] == '{"pattern": "[A-Z]+", "format": "regex"}'
    assert found["properties"]["when"] == {"type": "string", "format": "date"}
    assert found["properties"]["tags"] == {
        "type": "array",
        "items": {"enum": ["a", "b"]},
        "description": '{"minItems": 2}',
    }
    assert found["properties"]["either"] == {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/x"}]}
    assert found["$defs"]["x"]["additionalProperties"] is False


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": {}}},
        {"type": "array", "items": {}},
        {"anyOf": [True]},
    ],
)
def test_a_schema_that_allows_anything_cannot_be_closed(schema: dict[str, Any]) -> None:
    """It is then said in words, as a whole."""
    assert closed(schema) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["object", "array", "string", "integer"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "items", "anyOf", "enum", "required", "$defs", "description"]), inner
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "items", "anyOf", "$defs", "format"]), JSON, max_size=4))
@example({"items": {"type": "integer", "description": True}})
def test_no_schema_raises(schema: dict[str, Any]) -> None:
    """A schema is a user's text."""
    found = closed(schema)
    assert found is None or isinstance(found, dict)
