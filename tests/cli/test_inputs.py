"""How a run's input is typed."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from loopworth.cli.inputs import given
from loopworth.cli.status import UserFault

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "question": {"type": "string"},
        "count": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "desk": {"enum": ["billing", "3"]},
    },
}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("question=what is 3.10?", {"question": "what is 3.10?"}),
        ("question=42", {"question": "42"}),
        ("question=a=b", {"question": "a=b"}),
        ("question=", {"question": ""}),
        ("count=42", {"count": 42}),
        ("count=many", {"count": "many"}),
        ('tags=["a", "b"]', {"tags": ["a", "b"]}),
        ("note=null", {"note": "null"}),
        ("desk=3", {"desk": "3"}),
        ("unheard=1", {"unheard": 1}),
        ('{"question": "q", "count": 2}', {"question": "q", "count": 2}),
    ],
)
def test_a_pair_is_read_by_its_fields_type(word: str, value: dict[str, Any]) -> None:
    """A text field keeps its spelling; another field is JSON; the workflow judges what is left."""
    assert given([word], SCHEMA) == value


def test_later_options_add_to_earlier_ones(tmp_path: pathlib.Path) -> None:
    """A file gives the input, and pairs after it change single fields."""
    (tmp_path / "case.json").write_text('{"question": "q", "count": 1}', "utf-8")
    assert given([f"@{tmp_path / 'case.json'}", "count=2"], SCHEMA) == {"question": "q", "count": 2}


@pytest.mark.parametrize("more", [["question=b"], ['{"question": "b"}'], ["count=2", "question=a"]])
def test_no_field_is_named_by_two_pairs(more: list[str]) -> None:
    """Neither the first nor the last was meant more than the other."""
    with pytest.raises(UserFault, match=r"'question' was given before\n.*write it as JSON: question="):
        given(["question=a", *more], SCHEMA)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("question", "write name=value"),
        ("=x", "write name=value"),
        ('{"question": ', "not JSON"),
        ("@nowhere.json", "nowhere.json: No such file"),
    ],
)
def test_a_mistyped_input_says_what_to_write(word: str, said: str) -> None:
    """A slip on the command line is the user's, and told as such."""
    with pytest.raises(UserFault, match=said):
        given([word], SCHEMA)


def test_an_input_file_must_hold_an_object(tmp_path: pathlib.Path) -> None:
    """A list of cases is not one input."""
    (tmp_path / "cases.json").write_text("[1]", "utf-8")
    with pytest.raises(UserFault, match="an input is a JSON object"):
        given([f"@{tmp_path / 'cases.json'}"], SCHEMA)
