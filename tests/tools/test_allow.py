"""Allow-lists judge what the function would see, whoever calls it."""

from typing import Any, Literal

import pytest

from loopworth.tools.allow import Allow
from loopworth.tools.fault import ToolFault
from loopworth.tools.python import python_tool
from tests.tools.kit import invoke


class Spelled(float):
    """A number as a file spells it."""

    text = "3.10"


def made(allow, seen):
    def look(field: str = "salary", ids: list[int] | None = None, any: Any = 0) -> str:
        seen.append((field, ids, any))
        return "x"

    return python_tool("look", look, effect="read", inline=True, allow=allow)


@pytest.mark.parametrize(
    ("allow", "arguments"),
    [
        ({"field": ["budget", "staff"]}, {"field": "staff"}),
        ({"field": {"pattern": "[A-Z]{3}-[0-9]{2}"}}, {"field": "ZRG-14"}),
        ({"ids": [1, 2]}, {"ids": [2, 1, 2]}),
        ({"ids": [1, 2]}, {"ids": []}),
        ({"ids": [1, None]}, {}),
        ({"any": [1]}, {"any": 1.0}),
        ({"any": [{"a": [1, 2]}]}, {"any": {"a": [1, 2]}}),
        ({"any": {"pattern": "[0-9]+"}}, {"any": 42}),
        ({"field": [Spelled(3.1)]}, {"field": "3.10"}),
    ],
)
def test_what_is_allowed_passes(allow, arguments):
    """Equal values count as equal, each element of a list for itself."""
    seen = []
    assert invoke(made(allow, seen), arguments).status == "ok"
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("allow", "arguments", "why"),
    [
        ({"field": ["budget"]}, {"field": "salary"}, 'field must be one of "budget"; "salary" is not allowed'),
        ({"field": ["budget"]}, {}, 'field must be one of "budget"; "salary" is not allowed'),
        ({"field": {"pattern": "[a-z]+"}}, {"field": "abc\n"}, "that the pattern [a-z]+ matches as a whole"),
        ({"field": {"pattern": "a|ab"}}, {"field": "abc"}, "the pattern a|ab matches as a whole"),
        ({"ids": [1, 2]}, {"ids": [1, 3]}, "ids must be one of 1, 2; 3 is not allowed"),
        ({"ids": [1]}, {}, "ids must be one of 1; null is not allowed"),
        ({"any": [1]}, {"any": True}, "any must be one of 1; true is not allowed"),
        ({"any": [1]}, {"any": "1"}, 'any must be one of 1; "1" is not allowed'),
        ({"any": [1]}, {"any": [[1, [2]]]}, "2 is not allowed"),
        ({"any": {"pattern": "[0-9]+"}}, {"any": [1, "x"]}, '"x" is not allowed'),
    ],
)
def test_what_is_not_allowed_never_reaches_the_function(allow, arguments, why):
    """A default counts like a given value; the refusal says what is allowed."""
    seen = []
    observation = invoke(made(allow, seen), arguments)
    assert (observation.status, seen) == ("not_allowed", [])
    assert why in observation.content


SCHEMA = {
    "properties": {
        "id": {"type": "integer"},
        "field": {"enum": ["budget", "staff"], "type": "string"},
        "ids": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
    }
}


@pytest.mark.parametrize(
    ("allow", "what", "instead"),
    [
        ({"feld": ["budget"]}, "`allow` names 'feld', which is not an argument", "did you mean 'field'?"),
        ({"zzz": [1]}, "`allow` names 'zzz'", "its arguments are id, field, ids"),
        ({"id": {"pattern": "("}}, "`allow` of 'id' is not a pattern", ""),
        ({"id": {"patern": "a"}}, "`allow` of 'id' is {'patern': 'a'}", "write a list of values or {pattern: '…'}"),
        ({"id": 7}, "`allow` of 'id' is 7", "write a list of values"),
        ({"id": []}, "`allow` of 'id' is []", "write a list of values"),
        ({"id": ["7"]}, 'holds "7", which that argument can never be', ""),
        ({"id": [True]}, "holds true, which that argument can never be", ""),
        ({"field": ["salary"]}, 'holds "salary", which that argument can never be', ""),
        ({"ids": [1, "2"]}, 'holds "2", which that argument can never be', ""),
    ],
)
def test_a_rule_that_cannot_work_is_the_authors_fault(allow, what, instead):
    """Found when the tool is built, with the argument it stands under."""
    with pytest.raises(ToolFault) as fault:
        Allow.of(allow, SCHEMA)
    assert what in fault.value.what
    assert instead in fault.value.instead
    assert (fault.value.key, fault.value.name) == ("allow", next(iter(allow)))


def test_a_long_list_of_values_is_cut_in_the_refusal():
    """A model needs no thousand codes in one message."""
    refused = invoke(made({"any": list(range(1000))}, []), {"any": -1})
    assert "18, 19, … (1000 in all); -1 is not allowed" in refused.content


def test_a_literal_and_a_list_are_both_checked():
    """The schema says what the function takes, the allow-list what it may be asked for."""

    def look(field: Literal["budget", "staff"]) -> str:
        return field

    tool = python_tool("look", look, effect="read", inline=True, allow={"field": ["staff"]})
    got = [invoke(tool, {"field": field}).status for field in ("staff", "budget", "salary")]
    assert got == ["ok", "not_allowed", "invalid_arguments"]
