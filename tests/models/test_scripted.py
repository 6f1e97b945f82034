"""The model whose replies are written down."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from loopworth.models import ScriptedModel
from loopworth.runs.message import Reply, Request
from loopworth.runs.outcome import Stop
from loopworth.runs.usage import Usage

ASKED = Request([{"role": "user", "content": "hello"}], max_tokens=50)


def ask(model: ScriptedModel, id: str = "", seconds: float | None = None) -> Reply:
    return asyncio.run(model.reply(ASKED, seconds, id))


def only(reply: Any) -> Reply:
    return ask(ScriptedModel([reply]))


def test_a_list_is_used_in_order_and_running_out_says_so() -> None:
    """The error names the model, the number of replies and that one more was wanted."""
    model = ScriptedModel(["a", "b"], "scripted/x")
    assert [ask(model).text for _ in range(2)] == ["a", "b"]
    with pytest.raises(Stop, match="'scripted/x' has only 2 replies, and one more call wants another"):
        ask(model)
    assert len(model.requests) == 3


def test_keyed_replies_follow_the_effect_not_the_order() -> None:
    """Concurrent calls find their reply by id; the longest key that fits counts; one reply serves every call."""
    model = ScriptedModel({"parsed": ["a", "b"], "figures": "f", "figures/3": "third"})
    ids = ["figures/3/ask", "parsed/ask", "figures/1/ask", "figures/2/ask", "parsed/ask~2"]
    assert [ask(model, id).text for id in ids] == ["third", "a", "f", "f", "b"]
    assert model.by_id
    with pytest.raises(Stop, match="has only 2 replies for 'parsed'"):
        ask(model, "parsed/ask")
    with pytest.raises(Stop, match="has no reply for 'total/ask', only for parsed, figures"):
        ask(model, "total/ask")


def test_a_call_is_written_short() -> None:
    """Calls get the ids, the finish and the wire shape of real ones."""
    reply = only({"calls": [{"tool": "lookup", "arguments": {"code": "A"}}, {"tool": "now"}], "text": "Let me look."})
    assert [(c.tool, c.arguments) for c in reply.calls] == [("lookup", {"code": "A"}), ("now", None)]
    assert (reply.finish, reply.text) == ("tool_calls", "Let me look.")
    assert reply.message["tool_calls"][0]["function"] == {"name": "lookup", "arguments": '{"code": "A"}'}


@pytest.mark.parametrize(("said", "text"), [("hi", "hi"), (12, "12"), ({"text": 3.5}, "3.5"), ({"text": None}, "")])
def test_a_text_is_a_reply(said: Any, text: str) -> None:
    """A bare value is what the model says."""
    reply = only(said)
    assert (reply.text, reply.finish, reply.usage) == (text, "stop", Usage())


def test_a_wire_message_is_read_as_if_it_came_from_an_endpoint() -> None:
    """Every shape an endpoint may send can be played."""
    reply = only({"message": {"content": "", "tool_calls": []}, "finish_reason": "tool_calls", "usage": None})
    assert (reply.finish, reply.usage) == ("tool_calls", Usage(None, None))


@pytest.mark.parametrize(
    "usage",
    [
        {"input": 7, "output": 3, "cached": 2},
        {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 2}},
    ],
)
def test_usage_is_counted_and_costs_nothing(usage: dict[str, Any]) -> None:
    """In our words or in the wire's."""
    assert only({"text": "hi", "usage": usage}).usage == Usage(7, 3, 2, usd=0.0)


def test_a_bad_end_can_be_played() -> None:
    """A finish, or an error that is one."""
    assert only({"text": "Half of", "finish": "length"}).note.startswith("the reply was cut at the output limit of 50")
    error = {"status": 400, "code": "context_length_exceeded", "message": "too long"}
    assert only({"error": error}).finish == "context_overflow"
    with pytest.raises(Stop, match="scripted: status 503: down"):
        only({"error": {"status": 503, "message": "down"}})


def test_an_unknown_key_is_named() -> None:
    """A slip in a script is not a strange answer."""
    with pytest.raises(Stop, match="knows no txt in a reply"):
        only({"txt": "hi"})


def test_seconds_are_waited_for_and_cut_at_the_limit() -> None:
    """A slow model for tests of time: the sleep is the caller's."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    model = ScriptedModel({"a": {"text": "hi", "seconds": 3}}, sleep=sleep)
    assert (ask(model, "a").seconds, ask(model, "a", 1.0).finish) == (3.0, "time_limit")
    assert slept == [3.0, 1.0]
