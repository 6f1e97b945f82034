"""A request in Ollama's own words, and what is read from its answers."""

from __future__ import annotations

from typing import Any

import pytest

from loopworth.models import ModelSpec
from loopworth.models.dialects.ollama import Ollama
from loopworth.runs.message import Reply, Request, system, user

OLLAMA = Ollama()
ASKED = Request([system("Be brief."), user("hi")])


def body(request: Request = ASKED, most: int | None = None, **fields: Any) -> dict[str, Any]:
    return OLLAMA.body(ModelSpec("ollama/qwen3", dialect="ollama", **fields), request, most)


def reply(message: Any, **more: Any) -> Reply:
    return OLLAMA.read({"message": message, "done": True, **more}, None, 0)


@pytest.mark.parametrize("base", ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/", "http://h:1/api"])
def test_the_address_may_be_that_of_either_format(base: str) -> None:
    """Whoever switches the dialect need not know another address."""
    assert OLLAMA.url(base) == "http://h:1/api/chat"


def test_a_plain_request_says_no_more_than_it_must() -> None:
    """Nothing is streamed unless it is asked for, and no option is sent that nobody set."""
    assert body() == {"model": "qwen3", "messages": ASKED.messages, "stream": False}


def test_what_is_set_stands_in_options_and_the_files_own_win() -> None:
    """`extra.options` is joined with what loopworth sets; other extras stand at the top, and null is left out."""
    extra = {"options": {"num_ctx": 8192, "temperature": 1.0, "top_k": None}, "think": "low", "keep_alive": None}
    said = body(msg(seed=5), 64, temperature=0.0, seed=1, extra=extra)
    assert said["options"] == {"temperature": 1.0, "seed": 5, "num_predict": 64, "num_ctx": 8192}
    assert said["think"] == "low"
    assert "keep_alive" not in said


def msg(**fields: Any) -> Request:
    return Request(ASKED.messages, **fields)


def test_tools_a_schema_and_no_tools() -> None:
    """`format` is the schema; there is no `tool_choice`, so that `none` sends no tools."""
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    said = body(msg(tools=(tool,), schema={"type": "object"}, tool_choice="required"))
    assert (list(said["tools"]), said["format"]) == ([tool], {"type": "object"})
    assert "tool_choice" not in said
    assert "tools" not in body(msg(tools=(tool,), tool_choice="none"))


def test_the_history_has_objects_for_arguments_and_results_by_name() -> None:
    """The transcript keeps its own shape."""
    calls = [
        {"id": f"c{k}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for k, (name, arguments) in enumerate([("f", '{"a": 1}'), ("g", "{broken")])
    ]
    history = [
        user([{"type": "text", "text": "hi"}]),
        {"role": "assistant", "thinking": "hm", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c0", "content": "one"},
        {"role": "tool", "tool_call_id": "gone", "content": "two"},
    ]
    said = body(Request(history))["messages"]
    assert said[0] == {"role": "user", "content": "hi"}
    assert [call["function"]["arguments"] for call in said[1]["tool_calls"]] == [{"a": 1}, {}]
    assert (said[1]["thinking"], said[1]["content"]) == ("hm", "")
    assert [message["tool_name"] for message in said[2:]] == ["f", ""]
    assert history[1]["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'


def test_an_image_stands_beside_the_text() -> None:
    """As base 64, without its media type."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    [said] = body(Request([user([{"type": "text", "text": "What is this?"}, image])]))["messages"]
    assert said == {"role": "user", "content": "What is this?", "images": ["aGk="]}


def test_a_reply_is_read_into_the_shape_of_the_history() -> None:
    """Arguments become text, calls get ids, what was thought stays beside the text."""
    calls = [{"function": {"name": "f", "arguments": {"a": 1}}}, {"function": {"name": "f", "arguments": {}}}]
    said = reply({"role": "assistant", "content": "", "thinking": "hm", "tool_calls": calls}, done_reason="stop")
    assert (said.finish, said.text, said.message["thinking"]) == ("tool_calls", "", "hm")
    assert [call.arguments for call in said.calls] == [{"a": 1}, {}]
    assert [call["function"]["arguments"] for call in said.message["tool_calls"]] == ['{"a": 1}', "{}"]
    assert len({call.id for call in said.calls}) == 2


@pytest.mark.parametrize(
    ("status", "answer", "kind"),
    [
        (200, {"message": {"content": "a"}, "done": True}, None),
        (200, {"message": {"content": "a"}}, None),
        (200, {"message": {"content": "a"}, "done": False}, "broken"),
        (200, {"message": {"content": ""}, "done": True, "done_reason": "load"}, "broken"),
        (200, {"error": "an error was encountered while running the model"}, "broken"),
        (200, {"choices": [{"message": {"content": "a"}}]}, "broken"),
        (200, "<html>", "broken"),
        (404, {"error": "model 'x' not found"}, "refused"),
        (500, {"error": "the input length exceeds the context length"}, "context_overflow"),
        (503, {"error": "server busy, please try again.  maximum pending requests exceeded"}, "broken"),
    ],
)
def test_its_troubles_are_told_apart(status: int, answer: Any, kind: str | None) -> None:
    """An error is a text; half a stream is no reply."""
    found = OLLAMA.trouble(status, answer, {}, 0.0)
    assert (found and found.kind) == kind
