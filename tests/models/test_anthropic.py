"""A request in Anthropic's words, and what is read from its answers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.models import ModelSpec, open_model
from loopworth.models.chat import ChatModel
from loopworth.models.dialects.anthropic import Anthropic
from loopworth.runs.message import Message, Reply, Request, assistant, system, user
from tests.conformance.rules import faults
from tests.endpoint import FakeEndpoint

ANTHROPIC = Anthropic()
ASKED = Request([system("Be brief."), user("hi")])
TOOL = {"type": "function", "function": {"name": "f", "description": "Do f.", "parameters": {"type": "object"}}}


def body(request: Request = ASKED, most: int | None = 64, **fields: Any) -> dict[str, Any]:
    return ANTHROPIC.body(ModelSpec("anthropic/claude-x", **fields), request, most)


def reply(*blocks: Any, **more: Any) -> Reply:
    return ANTHROPIC.read({"type": "message", "content": list(blocks), **more}, None, 0)


def call(id: str, arguments: str = "{}", name: str = "f") -> Message:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(id: str, content: str = "ok") -> Message:
    return {"role": "tool", "tool_call_id": id, "content": content}


@pytest.mark.parametrize("base", ["https://h", "https://h/", "https://h/v1", "https://h/v1/"])
def test_the_address_may_be_that_of_either_format(base: str) -> None:
    """Whoever switches the dialect need not know another address."""
    assert ANTHROPIC.url(base) == "https://h/v1/messages"


def test_the_key_goes_where_the_provider_wants_it_and_elsewhere_both_ways() -> None:
    """Its own server gets no bearer; a server that imitates it may want either; no key sends none."""
    home, other = "https://api.anthropic.com/v1", "http://127.0.0.1:8080/v1"
    assert ANTHROPIC.headers(home, "sk") == {
        "anthropic-version": "2023-06-01",
        "x-api-key": "sk",
        "Authorization": None,
    }
    assert ANTHROPIC.headers(other, "sk") == {"anthropic-version": "2023-06-01", "x-api-key": "sk"}
    assert ANTHROPIC.headers(other, "none") == {"anthropic-version": "2023-06-01"}


def test_the_instructions_stand_at_the_top_and_a_limit_is_always_sent() -> None:
    """No null, no default of ours but the limit that it wants."""
    said = {"model": "claude-x", "max_tokens": 64, "system": "Be brief."}
    assert body() == {**said, "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]}
    assert body(most=None)["max_tokens"] == 4096
    assert "seed" not in body(Request(ASKED.messages, seed=3), seed=4)
    assert body(extra={"thinking": {"type": "adaptive"}, "top_k": None})["thinking"] == {"type": "adaptive"}


def test_instructions_alone_are_said_by_the_user() -> None:
    """There is no request without a user's message."""
    said = body(Request([system("Greet me.")]))
    assert said["messages"] == [{"role": "user", "content": "Greet me."}]
    assert "system" not in said


def test_a_system_message_in_the_middle_is_said_by_the_user() -> None:
    """Few models take one there."""
    said = body(Request([user("a"), system("b"), user("")]))
    texts = [{"type": "text", "text": text} for text in "ab"]
    assert said["messages"] == [{"role": "user", "content": texts}]
    assert "system" not in said


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("auto", None),
        ("required", {"type": "any"}),
        ("none", {"type": "none"}),
        ("f", {"type": "tool", "name": "f"}),
    ],
)
def test_tools_and_the_choice_among_them(choice: str, said: Any) -> None:
    """Each form of the choice has its own words."""
    found = body(Request(ASKED.messages, tools=(TOOL,), tool_choice=choice))
    assert found["tools"] == [{"name": "f", "description": "Do f.", "input_schema": {"type": "object"}}]
    assert found.get("tool_choice") == said


def test_a_history_with_calls_names_its_tools_where_none_may_be_called() -> None:
    """It is refused without any, as in a last word (https://github.com/BerriAI/litellm/issues/4689)."""
    history = [user("hi"), {"role": "assistant", "tool_calls": [call("a"), call("b", name="g"), call("c")]}]
    found = body(Request([*history, *map(result, "abc"), user("The answer?")]))
    assert found["tools"] == [{"name": name, "input_schema": {"type": "object"}} for name in "fg"]
    assert found["tool_choice"] == {"type": "none"}
    assert "tools" not in body()


def test_an_image_is_a_block_and_no_part_is_dropped_in_silence() -> None:
    """Data or an address; a block of its own is taken as it is."""
    block = {"type": "document", "source": {"type": "url", "url": "https://h/a.pdf"}}
    urls = ["data:image/png;base64,aGk=", "https://h/a.png"]
    images = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    [said] = body(Request([user([{"type": "text", "text": "What is this?"}, *images, block])]))["messages"]
    assert said["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        {"type": "image", "source": {"type": "url", "url": "https://h/a.png"}},
        block,
    ]


def test_a_schema_is_the_format_of_the_output_where_it_can_be() -> None:
    """A closed schema constrains; an open one is said in words."""
    closed = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]}
    found = body(Request(ASKED.messages, schema=closed), extra={"output_config": {"effort": "low"}})
    assert found["output_config"]["effort"] == "low"
    assert found["output_config"]["format"]["type"] == "json_schema"
    assert found["output_config"]["format"]["schema"]["additionalProperties"] is False
    open_one = {"type": "object", "additionalProperties": {"type": "string"}}
    found = body(Request(ASKED.messages, schema=open_one))
    assert "output_config" not in found
    assert found["system"].endswith(f"fits this schema: {json.dumps(open_one)}")


def test_results_of_parallel_calls_come_in_one_message_before_what_is_said() -> None:
    """Directly after the calls, in one user's message, and first in it."""
    history = [user("hi"), {"role": "assistant", "tool_calls": [call("a"), call("b", '{"x": 1}')]}]
    history += [result("a", "1"), result("b", "2"), user("Go on.")]
    _, said, heard = body(Request(history))["messages"]
    assert [block["type"] for block in said["content"]] == ["tool_use", "tool_use"]
    assert [block["input"] for block in said["content"]] == [{}, {"x": 1}]
    assert [block["type"] for block in heard["content"]] == ["tool_result", "tool_result", "text"]
    assert [block.get("tool_use_id") for block in heard["content"]] == ["a", "b", None]


def test_ids_are_as_this_endpoint_takes_them_in_calls_and_results_alike() -> None:
    """An id of another endpoint may have signs in it that this one refuses."""
    history = [user("hi"), {"role": "assistant", "tool_calls": [call("run:0")]}, result("run:0")]
    _, said, heard = body(Request(history))["messages"]
    assert said["content"][0]["id"] == heard["content"][0]["tool_use_id"] == "run_0"


BLOCKS = [
    {"type": "thinking", "thinking": "", "signature": "s1"},
    {"type": "text", "text": "Let me look."},
    {"type": "redacted_thinking", "data": "x"},
    {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}, "caller": {"type": "direct"}},
    {"type": "thinking", "thinking": "And b.", "signature": "s2"},
    {"type": "tool_use", "id": "b", "name": "f", "input": {"x": 2}},
]


def test_thinking_goes_back_unchanged_and_in_its_place() -> None:
    """The blocks of a reply are sent as they came, and none of what was thought is part of the text."""
    said = reply(*BLOCKS, stop_reason="tool_use")
    assert (said.finish, said.text, [c.id for c in said.calls]) == ("tool_calls", "Let me look.", ["a", "b"])
    found = body(Request([user("hi"), said.message, result("a"), result("b")]))["messages"]
    assert found[1] == {"role": "assistant", "content": BLOCKS}


def test_calls_that_were_mended_go_back_mended_between_what_was_thought() -> None:
    """The history decides on the arguments of its calls; a call that it no longer has is gone."""
    said = reply(*BLOCKS, stop_reason="tool_use").message
    mended = {**said, "tool_calls": [call("a", '{"x": 9}', "g")]}
    found = body(Request([user("hi"), mended, result("a")]))["messages"][1]["content"]
    assert [block["type"] for block in found] == ["thinking", "text", "redacted_thinking", "tool_use", "thinking"]
    assert found[3] == {**BLOCKS[3], "name": "g", "input": {"x": 9}}


def test_what_cannot_go_back_does_not() -> None:
    """An empty text is refused, and so are thoughts without their seal; what has no type is nothing; the rest stays in
    its place."""
    odd = [{"type": "text", "text": " "}, {"text": "no type"}, {"type": "tool_use", "id": 7, "name": "f", "input": {}}]
    odd += [{"type": "thinking", "thinking": "unsigned"}, {"type": "redacted_thinking"}]
    said = reply(BLOCKS[0], *odd, stop_reason="tool_use").message
    [call] = said["tool_calls"]
    found = body(Request([user("hi"), said, result(call["id"])]))["messages"]
    assert [block["type"] for block in found[1]["content"]] == ["thinking", "tool_use"]
    assert found[1]["content"][1]["id"] == found[2]["content"][0]["tool_use_id"] == call["id"]


def test_a_reply_of_words_and_calls_keeps_no_blocks() -> None:
    """The history has all there is to them."""
    said = reply({"type": "text", "text": "a"}, {"type": "text", "text": "b"}, BLOCKS[3], stop_reason="tool_use")
    assert said.message == {"role": "assistant", "content": "ab", "tool_calls": [call("a", '{"x": 1}')]}
    assert reply(stop_reason="end_turn").message == {"role": "assistant", "content": ""}


@pytest.mark.parametrize(
    ("stop", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context_overflow"),
        (None, "stop"),
    ],
)
def test_stop_reasons_are_ends(stop: str | None, finish: str) -> None:
    """Each has its meaning."""
    assert reply({"type": "text", "text": "a"}, stop_reason=stop).finish == finish


def test_a_turn_that_is_paused_is_no_answer() -> None:
    """It would go on with a tool of the provider's own; half of it is not the answer."""
    said = reply({"type": "text", "text": "Let me search."}, stop_reason="pause_turn")
    assert (said.finish, "paused" in said.note) == ("length", True)


def test_a_refusal_says_why_as_far_as_it_is_told() -> None:
    """Category and explanation may be null."""
    details = {"type": "refusal", "category": "bio", "explanation": None}
    assert reply(stop_reason="refusal", stop_details=details).note == "bio"
    assert reply(stop_reason="refusal").note == "the model refused"


@pytest.mark.parametrize(
    ("status", "answer", "kind"),
    [
        (200, {"type": "message", "content": []}, None),
        (200, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "busy"),
        (200, {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}, "refused"),
        (200, {"type": "error", "error": {"type": "api_error", "message": "oops"}}, "broken"),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "busy"),
        (402, {"type": "error", "error": {"type": "billing_error", "message": "credit"}}, "refused"),
        (504, {"type": "error", "error": {"type": "timeout_error", "message": "late"}}, "broken"),
        (200, {"choices": [{"message": {"content": "a"}}]}, "broken"),
    ],
)
def test_its_troubles_are_told_apart(status: int, answer: Any, kind: str | None) -> None:
    """By type where there is no status to go by."""
    found = ANTHROPIC.trouble(status, answer, {}, 0.0)
    assert (found and found.kind) == kind


class Here(Anthropic):
    """Sends what it would send to the provider's own server."""

    def headers(self, base_url: str, key: str) -> dict[str, str | None]:
        return super().headers("https://api.anthropic.com/v1", key)


@pytest.mark.parametrize("home", [True, False])
def test_the_headers_arrive(monkeypatch: pytest.MonkeyPatch, home: bool) -> None:
    """The client's own bearer is taken out where the provider wants none."""
    monkeypatch.setenv("KEY_OF_A_TEST", "sk-of-a-test")
    spec = {"api_key": "KEY_OF_A_TEST", "retries": 0}
    body = {"type": "message", "content": [{"type": "text", "text": "hi"}], "usage": {"input_tokens": 1}}

    async def main(url: str) -> str:
        model = open_model(ModelSpec("anthropic/claude-x", base_url=url, **spec))  # type: ignore[arg-type]
        assert isinstance(model, ChatModel)
        model.dialect = Here() if home else model.dialect
        text = (await model.reply(ASKED, None)).text
        await model.close()
        return text

    with FakeEndpoint(body) as fake:
        assert asyncio.run(main(fake.base_url)) == "hi"
    [received] = fake.requests
    assert received.path == "/v1/messages"
    assert received.headers["x-api-key"] == "sk-of-a-test"
    assert received.headers.get("authorization") == (None if home else "Bearer sk-of-a-test")


TURNS = st.lists(st.tuples(st.text(max_size=3), st.integers(0, 3), st.booleans(), st.text(max_size=3)), max_size=5)


@given(TURNS, st.booleans())
def test_any_history_of_a_loop_is_one_that_it_takes(turns: list[tuple[str, int, bool, str]], told: bool) -> None:
    """Roles alternate, no block is empty, every call has its result directly after it."""
    history = [*([system("a")] if told else []), user("hi")]
    for n, (text, calls, thinks, reminder) in enumerate(turns):
        blocks = [{"type": "text", "text": text}] if text else []
        blocks += [{"type": "thinking", "thinking": "", "signature": "s"}] if thinks else []
        blocks += [{"type": "tool_use", "id": f"{n}:{k}", "name": "f", "input": {}} for k in range(calls)]
        said = reply(*blocks)
        history += [said.message, *(result(call.id) for call in said.calls), user(reminder)]
    history.append(user("Go on."))
    found = body(Request(history, tools=(TOOL,)))
    assert faults("anthropic", "/v1/messages", {"anthropic-version": ""}, found) == []


def test_an_assistant_may_have_the_first_word() -> None:
    """What a file says is sent as it is."""
    assert [m["role"] for m in body(Request([assistant("a"), user("b")]))["messages"]] == ["assistant", "user"]
