"""A reply of native calls as it goes back to its endpoint."""

from typing import Any, get_args

import pytest

from loopworth.agents.native import sendable
from loopworth.models.reading import read
from loopworth.runs.events import ToolCalled
from loopworth.runs.message import Reply
from loopworth.runs.observation import RAN, Observation, Status
from tests.agents.kit import make
from tests.cases.wire import play
from tests.endpoint import USAGE, called, said, wire


def reply(arguments: Any, name: str = "lookup") -> Reply:
    """A signed call, as Gemini signs one."""
    function = {"name": name, "arguments": arguments, "index": 0}
    call = {"id": "a", "function": function, "extra_content": {"google": {"thought_signature": "s"}}}
    return read({"choices": [{"message": {"content": "", "reasoning_details": [1], "tool_calls": [call]}}]})


def back(sent: Reply, status: Status) -> dict[str, Any]:
    [call] = sendable(sent, [Observation("a", "lookup", status, "")])["tool_calls"]
    return call


def test_a_signature_goes_back_with_a_call_whose_arguments_were_mended() -> None:
    """Without it the endpoint would refuse the whole history."""
    sent = reply("{broken", "look up")
    call = back(sent, "invalid_arguments")
    assert call["extra_content"] == {"google": {"thought_signature": "s"}}
    assert call["function"] == {"name": "look_up", "arguments": "{}", "index": 0}
    assert sendable(sent, [Observation("a", "lookup", "invalid_arguments", "")])["reasoning_details"] == [1]


def test_a_good_call_goes_back_as_it_came() -> None:
    """Not a sign is changed, so that the endpoint's cache holds."""
    sent = reply('{"code":  "A"}')
    assert sendable(sent, [Observation("a", "lookup", "ok", "1")]) is sent.message


@pytest.mark.parametrize("status", get_args(Status))
def test_arguments_that_nobody_read_go_back_as_an_object(status: Status) -> None:
    """Whatever a call was refused for: unread, such as one that is repeated or of an unknown tool, it may be broken."""
    if status not in RAN:
        assert back(reply("{broken"), status)["function"]["arguments"] == "{}"
    sent = reply('{"code":  "A"}')
    assert (back(sent, status) == sent.message["tool_calls"][0]) == (status != "invalid_arguments")


def test_a_reply_that_says_it_calls_a_tool_and_does_not_is_asked_once_more() -> None:
    """What it says is a preamble, as a rule; where it says so again, that is the answer."""
    preamble = wire({"content": "I'll read the file first.", "tool_calls": []}, "tool_calls")
    found = play({}, make(), preamble, called(("lookup", {"code": "AB"})), said("2"))
    assert (found.outcome.answer, found.outcome.path) == ("2", ("lookup",))
    assert found.sent[1]["messages"][-1]["content"].startswith("Your reply says that it calls a tool")
    again = play({}, make(), preamble, wire({"content": "It is 2."}, "tool_calls"))
    assert (again.outcome.exit, again.outcome.answer, len(again.sent)) == ("success", "It is 2.", 2)
    alone = play({}, make(tools={}), wire({"content": "It is 2."}, "tool_calls"))
    assert (alone.outcome.answer, len(alone.sent)) == ("It is 2.", 1)


@pytest.mark.parametrize(
    "end",
    [
        {"finish_reason": "function_call_filter: MALFORMED_FUNCTION_CALL"},
        {"finish_reason": "malformed_function_call"},
        {"finish_reason": "stop", "native_finish_reason": "MALFORMED_FUNCTION_CALL"},
        {"finish_reason": "UNEXPECTED_TOOL_CALL"},
    ],
)
@pytest.mark.parametrize("content", [None, "Malformed function call: print(default_api.lookup(code='AB'))"])
def test_a_call_that_its_provider_could_not_read_is_a_bad_call(end: dict[str, Any], content: str | None) -> None:
    """The model is told and may call again; nothing of it is an answer, and what it cost is counted."""
    body = {"choices": [{"message": {"role": "assistant", "content": content}, **end}], "usage": USAGE}
    found = play({}, make(), body, called(("lookup", {"code": "AB"})), said("2"))
    assert (found.outcome.exit, found.outcome.answer) == ("success", "2")
    assert [event.status for event in found.outcome.events if isinstance(event, ToolCalled)] == ["unknown_tool", "ok"]
    assert (found.outcome.usage.input, found.outcome.usage.output) == (30, 15)
    forever = play({}, make(), last=body)
    assert (forever.outcome.exit, len(forever.sent)) == ("repetition", 3)
