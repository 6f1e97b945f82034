"""JSON schemas of a file: what a value must be, and which schemas can be checked at all."""

import pytest

from loopworth.workflows.json_schema import faults, inlined, unreadable


@pytest.mark.parametrize(
    ("schema", "good", "bad", "said"),
    [
        ({"type": "integer"}, 3, True, "value: must be integer"),
        ({"type": "integer"}, 3.0, 3.5, "value: must be integer"),
        ({"type": ["string", "null"]}, None, 1, "value: must be string or null"),
        ({"type": "number"}, 1.5, float("nan"), "value: must be number"),
        ({"enum": [1, "a"]}, 1, True, "value: must be one of 1, a"),
        ({"const": "a"}, "a", "b", "value: must be one of a"),
        ({"properties": {"a": {"type": "string"}}}, {"b": 1}, {"a": 1}, "a: must be string"),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}, {"b": 1}, "b: is not a field"),
        ({"additionalProperties": {"type": "integer"}}, {"x": 1}, {"x": "1"}, "x: must be integer"),
        ({"required": ["a"]}, {"a": None}, {}, "a: is missing"),
        ({"items": {"items": {"type": "string"}}}, [["a"]], [["a", 1]], "[0][1]: must be string"),
        ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, "a", 1, "value: fits none of the 2 forms"),
        ({"oneOf": [{"minimum": 1}, {"minimum": 3}]}, 2, 4, "value: fits 2 of the 2 forms, not one"),
        ({"allOf": [{"minimum": 1}, {"maximum": 3}]}, 2, 4, "value: must be at most 3"),
        ({"not": {"type": "null"}}, 1, None, "value: is what it must not be"),
        ({"pattern": "^[A-Z]{3}$"}, "ABC", "ABCD", "value: must match ^[A-Z]{3}$"),
        ({"minLength": 2}, "ab", "a", "value: must have a length of at least 2"),
        ({"maxItems": 1}, [1], [1, 2], "value: must have a length of at most 1"),
        ({"exclusiveMinimum": 0}, 1, 0, "value: must be more than 0"),
        (False, None, None, "value: nothing is allowed here"),
    ],
)
def test_each_keyword_refuses_what_it_should(schema, good, bad, said):
    """A good value has no fault; a bad one has a line that names the place."""
    assert schema is False or list(faults(schema, good)) == []
    assert list(faults(schema, bad)) == [said]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"properties": {"a": {"patternProperties": {}}}}, "the keyword 'patternProperties' is not in this version"),
        ({"items": {"type": "strng"}}, "type: 'strng' is not what this keyword takes"),
        ({"anyOf": [{"pattern": "("}]}, "pattern: '(' is not what this keyword takes"),
        ({"required": "a"}, "required: 'a' is not what this keyword takes"),
        ({"not": 3}, "3 is not a schema"),
    ],
)
def test_no_keyword_is_ignored_in_silence(schema, said):
    """What these rules cannot check is said, at any depth; notes and `x-` keys are free."""
    assert unreadable(schema) == said
    assert unreadable({"title": "t", "x-mine": 1, "items": True}) is None


def test_references_are_put_in_place():
    """A local reference stands for its schema; one that holds itself or leads nowhere is refused."""
    schema = {"items": {"$ref": "#/$defs/n", "description": "d"}, "$defs": {"n": {"type": "integer"}}}
    assert inlined(schema) == {"items": {"type": "integer", "description": "d"}}
    with pytest.raises(ValueError, match="holds itself"):
        inlined({"$ref": "#/$defs/n", "$defs": {"n": {"items": {"$ref": "#/$defs/n"}}}})
    with pytest.raises(ValueError, match="leads nowhere"):
        inlined({"$ref": "#/$defs/m"})
