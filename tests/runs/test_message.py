"""What a model's text holds: the text inside a fence, and the JSON in a text."""

from __future__ import annotations

import time

import pytest

from loopworth.runs.message import json_of, unfenced


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("```json\n[1]\n```", "[1]"),
        (" ```JSON  \n\n  [1]```\n", "[1]"),
        ("```\n```", ""),
        ("```\na ``` b\n```", "a ``` b"),
        ("see\n```\n[1]\n```", "see\n```\n[1]\n```"),
        ("```\n[1]\n``` so", "```\n[1]\n``` so"),
        ("```[1]```", "```[1]```"),
        ("```\n``", "```\n``"),
        (" [1] ", "[1]"),
    ],
)
def test_a_fence_goes_where_it_holds_all_of_the_text(text: str, inside: str) -> None:
    """Whatever its language, and wherever its last line ends; a part of a text that is fenced is a part."""
    assert unfenced(text) == inside


@pytest.mark.parametrize("text", ["```\n" + "\n" * 500_000 + "x", "```json\n" + " \n" * 250_000 + "```x"])
def test_empty_lines_without_end_take_no_time(text: str) -> None:
    """A model in a circle writes them, and the run waits for what is read of it."""
    began = time.process_time()
    assert unfenced(text) == text
    assert time.process_time() - began < 1


@pytest.mark.parametrize("text", ["", "{", "no", "[" * 5000, '{"a": ' * 5000])
def test_what_is_no_json_is_one_kind_of_error(text: str) -> None:
    """So is what nests too deeply to be read: it is no bug of ours."""
    with pytest.raises(ValueError, match=r"Expecting|is nested too deeply"):
        json_of(text)


def test_json_is_read_as_json_loads_is_told_to() -> None:
    """The options are those of the library."""
    assert json_of('{"a": NaN}', parse_constant=str) == {"a": "NaN"}
