"""The message for broken JSON says where it broke and what to write instead."""

import pytest

from loopworth.tools.arguments import ArgumentFault, parse


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"path": "a.py", "text": "print("hi")"}', r'column 34: found \'hi")"}\' after a text: inner quotes must be'),
        ('{"text": "keep ,} here",}', "column 25: no comma is allowed before }"),
        ('{"xs": [1, 2,]}', "no comma is allowed before ]"),
        ('{"path": "a', "column 10: the text that starts here does not end: it was cut off"),
        ('{"to": "sam@example.org", ', "the object does not end: it was cut off"),
        ('{"a": {"b": 1}', "the object does not end: it was cut off"),
        ('{"a": 1} {"b": 2}', "one object is needed, but '{\"b\": 2}' follows it"),
        ('{"a": 1}}', "one object is needed, but '}' follows it"),
        ("{'a': 1}", "JSON takes double quotes"),
        ('{"a": True}', "JSON writes true, false and null"),
        ('{"a": None}', "JSON writes true, false and null"),
        ("{a: 1}", "names and texts stand in double quotes, found 'a: 1}'"),
        ('{"a": 1, // one\n"b": 2}', "JSON has no comments"),
        ('```json\n{"a": 1}\n```', "without a code fence"),
        ('{"a": "x"\n"b": 1}', "line 2, column 1: a comma is missing before '\"b\": 1}'"),
        ('{"a": "x\ny"}', r"a line break or tab inside a text must be escaped: write \n or \t"),
        ('{"a": "x\x1b[2J"}', r"a control character inside a text must be escaped: write \u001b"),
        (r'{"a": "\d"}', r"a backslash inside a text must be escaped: write \\"),
        ('{"a": }', "found '}' where JSON expects something else"),
        ("Oslo", "line 1, column 1: found 'Oslo'"),
    ],
)
def test_a_slip_is_named_with_its_place(text, said):
    """Nothing is repaired: the model is told, and calls again."""
    with pytest.raises(ArgumentFault) as fault:
        parse(text)
    assert str(fault.value).startswith("the arguments are not JSON: line ")
    assert said.replace("\\'", "'") in str(fault.value)
