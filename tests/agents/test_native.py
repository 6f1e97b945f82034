"""A reply of native calls as it goes back to its endpoint."""

from typing import Any, get_args

import pytest

from loopworth.agents.native import sendable
from loopworth.models.reading import read
from loopworth.runs.message import Reply
from loopworth.runs.observation import Observation, Status
from loopworth.runs.outcome import RAN


def reply(arguments: Any, name: str = "lookup") -> Reply:
    """A signed call, as Gemini signs one."""
    function = {"name": name, "arguments": arguments, "index": 0}
    call = {"id": "a", "function": function, "extra_content": {"google": {"thought_signature": "s"}}}
    return read({"choices": [{"message": {"content": "", "reasoning_details": [1], "tool_calls": [call]}}]})


def back(said: Reply, status: Status) -> dict[str, Any]:
    [call] = sendable(said, [Observation("a", "lookup", status, "")])["tool_calls"]
    return call


def test_a_signature_goes_back_with_a_call_whose_arguments_were_mended() -> None:
    """Without it the endpoint would refuse the whole history."""
    said = reply("{broken", "look up")
    call = back(said, "invalid_arguments")
    assert call["extra_content"] == {"google": {"thought_signature": "s"}}
    assert call["function"] == {"name": "look_up", "arguments": "{}", "index": 0}
    assert sendable(said, [Observation("a", "lookup", "invalid_arguments", "")])["reasoning_details"] == [1]


def test_a_good_call_goes_back_as_it_came() -> None:
    """Not a sign is changed, so that the endpoint's cache holds."""
    said = reply('{"code":  "A"}')
    assert sendable(said, [Observation("a", "lookup", "ok", "1")]) is said.message


@pytest.mark.parametrize("status", get_args(Status))
def test_arguments_that_nobody_read_go_back_as_an_object(status: Status) -> None:
    """Whatever a call was refused for: unread, such as one that is repeated or of an unknown tool, it may be broken."""
    if status not in RAN:
        assert back(reply("{broken"), status)["function"]["arguments"] == "{}"
    said = reply('{"code":  "A"}')
    assert (back(said, status) == said.message["tool_calls"][0]) == (status != "invalid_arguments")
