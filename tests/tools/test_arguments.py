"""Arguments become one canonical object, or a refusal that says what to write."""

import datetime
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.tools.arguments import ArgumentFault, parse

DEEP = '{"a": ' * 90 + "1" + "}" * 90
TOO_DEEP = '{"a": ' * 101 + "1" + "}" * 101


@pytest.mark.parametrize("arguments", [None, "", "  \n", "null", "{}", {}, '""', '"{}"', b""])
def test_nothing_counts_as_no_arguments(arguments):
    """Endpoints write "no arguments" in many ways."""
    assert parse(arguments) == {}


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ('{"n": 7300000000000000021}', {"n": 7300000000000000021}),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}),
        ('"{\\"city\\": \\"Oslo\\"}"', {"city": "Oslo"}),
        (r'{"t": "\ud83d\ude80 go"}', {"t": "\N{ROCKET} go"}),
        ('{"t": "keep ,} and ,] here"}', {"t": "keep ,} and ,] here"}),
        ({"d": datetime.date(2024, 1, 2), "xs": (1, 2)}, {"d": "2024-01-02", "xs": [1, 2]}),
        (b'{"t": "\xc3\xa9"}', {"t": "é"}),
        (DEEP, json.loads(DEEP)),
    ],
)
def test_an_object_arrives_exactly(arguments, value):
    """Nothing is rounded, shortened or guessed; an object that was encoded twice is unwrapped once."""
    assert parse(arguments) == value


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("42", "the bare number 42: an object is needed"),
        ("1e5", "the bare number 100000.0: an object is needed"),
        ("true", "the bare value true: an object is needed"),
        ("[]", "a list: an object is needed"),
        ('[{"a": 1}]', "a list: an object is needed"),
        ('"Oslo"', "the arguments are a text, not an object"),
        ('"42"', "an object is needed"),
        (json.dumps(json.dumps('{"a": 1}')), "an object is needed"),
        (7, "the bare number 7: an object is needed"),
        ('{"seconds": 1e999}', "seconds must be a finite number, got Infinity"),
        ('{"a": {"b": [0, NaN]}}', "a.b[1] must be a finite number, got NaN"),
        ({"x": float("-inf")}, "x must be a finite number, got -Infinity"),
        ('{"path": "a", "path": "b"}', "'path' is given twice"),
        ('{"a": [{"b": 1, "b": 1}]}', "'b' is given twice"),
        (r'{"t": "\ud800"}', r"t holds half of a surrogate pair ('\ud800')"),
        (r'{"\udcff": 1}', r"'\udcff' holds half of a surrogate pair"),
        (b'{"t": "\xff"}', "t holds half of a surrogate pair"),
        (TOO_DEEP, "a is nested too deeply: at most 100 levels"),
        ("[" * 100_000, "nested too deeply"),
        ('{"n": ' + "9" * 5000 + "}", "too many digits"),
        ({"n": 10**5000}, "n has too many digits"),
        ({"a": {1: 2}}, "a: the name 1 is not a text"),
        ({"a": object()}, "a is a object, which JSON cannot hold"),
    ],
)
def test_what_is_no_plain_object_is_refused_and_named(arguments, why):
    """The refusal names the field or the kind; nothing reaches a tool."""
    with pytest.raises(ArgumentFault) as fault:
        parse(arguments)
    assert why in str(fault.value)
    assert fault.value.status == "invalid_arguments"
    assert len(str(fault.value)) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_every_json_object_passes_unchanged(value):
    """As an object, as text, and as text within text."""
    text = json.dumps(value)
    assert parse(value) == parse(text) == parse(json.dumps(text)) == value
    assert parse(json.dumps(value, ensure_ascii=False)) == value


@given(st.text() | st.binary() | JSON | st.dictionaries(st.text(), JSON).map(json.dumps).map(lambda text: text[:-1]))
def test_anything_is_an_object_of_plain_data_or_a_fault(value):
    """No other error leaves the parser, and what it returns can be encoded."""
    try:
        parsed = parse(value)
    except ArgumentFault:
        return
    assert json.loads(json.dumps(parsed, allow_nan=False).encode()) == parsed
