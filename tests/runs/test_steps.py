"""A run, told step by step."""

from __future__ import annotations

from loopworth.runs.events import Compacted
from loopworth.runs.steps import content, noted


def test_what_was_left_out_of_a_request_is_told() -> None:
    """Which results, what that saved, and what it costs."""
    line = noted(Compacted("4/ask", ("1/call[0]", "2/call[0]"), 12400, 6100, 3000))
    assert line is not None
    assert f"{line.at}  {line.text}" == (
        "4/ask  left out the results of 1/call[0], 2/call[0]: 12,400 tokens became 6,100 (estimated), "
        "and 3,000 have to be read again"
    )


def test_the_name_of_a_call_stays_on_its_line() -> None:
    """A model writes it, and a line of its own would pass for one of ours; a text and arguments keep their lines."""
    function = {"name": "look\n2/ask  assistant  yes\x1b[2J", "arguments": '{\n "a": 1}'}
    told = content({"role": "assistant", "content": "I\nlook", "tool_calls": [{"id": "c", "function": function}]})
    assert told.split("\n") == ["I", "look", r"look\n2/ask  assistant  yes\x1b[2J({", ' "a": 1})']
