"""Chunks of a streamed chat completion: what is added up, what counts last, and which call a piece belongs to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.models.dialects.openai_stream import Chunks
from loopworth.models.reading import read

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "message", "tool_calls", "function", "function_call", "index", "id", "name"]
            )
            | st.sampled_from(["arguments", "content", "usage", "finish_reason", "error", "x_groq", "role", "object"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


INNER = '{"p": {}, "q":""}'


def gathered(*deltas: dict[str, Any], finish: str | None = "stop", **last: Any) -> dict[str, Any]:
    chunks = Chunks()
    for delta in deltas:
        chunks.add({"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]})
    chunks.add({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]} | last)
    return chunks.body()


def piece(index: Any = None, id: Any = None, name: Any = None, arguments: Any = None) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    said = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return {"tool_calls": [{**said, "function": function}]}


def calls(*deltas: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(call.tool, call.arguments) for call in read(gathered(*deltas, finish="tool_calls")).calls]


def message(*deltas: dict[str, Any]) -> dict[str, Any]:
    return gathered(*deltas)["choices"][0]["message"]


@given(st.lists(JSON, max_size=6))
def test_no_chunk_raises(events: list[Any]) -> None:
    """Whatever JSON a server sends as a chunk; what is gathered can be read."""
    chunks = Chunks()
    for event in events:
        if isinstance(event, dict):
            assert isinstance(chunks.add(event), str)
    body = chunks.body()
    if body["choices"]:
        read(body)


def test_texts_are_added_up_in_every_field() -> None:
    """Content, reasoning and refusal grow; the role is said once."""
    said = message(
        {"role": "assistant", "content": ""},
        {"reasoning_content": "hm"},
        {"reasoning_content": "m", "content": None},
        {"content": "a"},
        {"role": "assistant", "content": "b"},
    )
    assert said == {"role": "assistant", "content": "ab", "reasoning_content": "hmm"}


def test_parts_of_content_and_reasoning_are_listed() -> None:
    """Mistral streams parts, OpenRouter lists details; a text among parts is a part."""
    part = {"type": "text", "text": "a"}
    assert message({"content": [part]}, {"content": "b"})["content"] == [part, {"type": "text", "text": "b"}]
    detail = {"type": "reasoning.text", "text": "hm"}
    assert (
        message({"reasoning_details": [detail]}, {"reasoning_details": [detail]})["reasoning_details"] == [detail] * 2
    )


@pytest.mark.parametrize(
    ("deltas", "made"),
    [
        ([piece(0, "a", "read", '{"p'), piece(0, None, None, '": 1}')], ['{"p": 1}']),
        ([piece(0, "a", "read", ""), piece(0, "", None, "{}")], ["{}"]),
        ([piece(0, "a", "read", "{"), piece(0, "a", "read", "}")], ["{}"]),
        ([piece(0, "a", "re", "{"), piece(0, None, "ad", "}")], ["{}"]),
        ([piece(0, "a", "read", "{"), piece(0, "b", None, "}")], ["{}"]),
        ([piece(0, None, "read", "{"), piece(0, "a", None, "}")], ["{}"]),
        ([piece(0, "a", "read", "{}"), piece(0, "b", "read", "[]")], ["{}", "[]"]),
        ([piece(0, "a", "read", "1"), piece(0, "b", "read", "2"), piece(0, "a", None, "3")], ["13", "2"]),
        ([piece(0, "a", "read", "1"), piece(1, "a", "read", "2"), piece(0, "a", None, "3")], ["13", "2"]),
        ([piece("0", "a", "read", "1"), piece("1", "b", "read", "2"), piece("0", None, None, "3")], ["13", "2"]),
        ([piece(1, "b", "read", "2"), piece(0, "a", "read", "1"), piece(1, None, None, "3")], ["1", "23"]),
        ([piece(None, "a", "read", "1"), piece(None, "b", "read", "2"), piece(None, "a", None, "3")], ["13", "2"]),
        ([piece(None, "a", "read", "{"), piece(None, None, None, "}")], ["{}"]),
        ([piece(None, None, "read", "{}"), piece(None, None, "read", "{}")], ["{}", "{}"]),
        ([piece(None, None, "read", "{"), piece(None, None, "read", "}")], ["{}"]),
        ([piece(0, "a", "read", {"p": 1})], [{"p": 1}]),
        ([piece(0, "a", "read", ""), piece(0, None, None, {"p": 1})], [{"p": 1}]),
        ([piece(0, "a", "read"), piece(0)], [None]),
        ([piece(0, "a", "read", '{"p": 1}'), piece(0, "a", "read", '{"p": 1}')], ['{"p": 1}']),
        ([piece(0, "a", "read", '{"p": 1}'), piece(0, None, None, '{"p": 1}')], ['{"p": 1}']),
        ([piece(0, "a", "read", "{"), piece(0, "a", "read", "}"), piece(0, "a", "read", "{}")], ["{}"]),
        ([piece(0, "a", "read", '{"p": 1}'), piece(0, "a", "read", '"{\\"p\\": 1}"')], ['{"p": 1}']),
        ([piece(0, "a", "read", '{"p": {}'), *(piece(0, arguments=said) for said in (', "q":', '""}'))], [INNER]),
        ([piece(0, "a", "read", "{}"), piece(0, None, None, '{"p'), piece(0, None, None, '": 1}')], ['{"p": 1}']),
        ([piece(0, "a", "read", '{"p": 1}'), piece(0, None, None, "{}")], ['{"p": 1}']),
        ([piece(0, None, "read", '{"p": 1}'), piece(0, None, "read", '{"p": 2}')], ['{"p": 1}', '{"p": 2}']),
        ([piece(0, "", "read", '{"p": 1}'), piece(0, "", "read", '{"p": 2}')], ['{"p": 1}', '{"p": 2}']),
        ([piece(0, "a", "read", ""), *(piece(0, None, "", f'{{"p": {n}}}') for n in (1, 2))], ['{"p": 1}', '{"p": 2}']),
    ],
)
def test_a_piece_goes_to_its_call(deltas: list[dict[str, Any]], made: list[Any]) -> None:
    """By index first; at one index by id; a new id with a name begins a call, a blank or nameless one does not; where
    there is no index, by id, else to the last call, unless a name begins another. Names may come again or in pieces.
    Whole arguments beside whole ones of one index are another call, unless the id is the same, or they are."""
    assert calls(*deltas) == [("read", arguments) for arguments in made]


def test_whole_calls_at_one_index_are_told_apart_by_their_names() -> None:
    """Without any ids: Gemini's calls, as some servers translate them."""
    made = calls(piece(0, None, "read", "{}"), piece(0, None, "pay", '{"p": 1}'))
    assert made == [("read", "{}"), ("pay", '{"p": 1}')]


def test_an_id_said_later_is_the_calls_own() -> None:
    """And what a provider adds to a call is kept for the history."""
    first = piece(0, "", "read", "{}")
    first["tool_calls"][0]["extra_content"] = {"signature": "s"}
    [call] = message(first, piece(0, "a"))["tool_calls"]
    assert (call["id"], call["extra_content"]) == ("a", {"signature": "s"})
    assert "index" not in call


def test_the_call_from_before_there_were_tools() -> None:
    """`function_call` in pieces; beside tool calls it is the same call again."""
    pieces = [{"function_call": {"name": "read", "arguments": "{"}}, {"function_call": {"arguments": "}"}}]
    assert calls(*pieces) == [("read", "{}")]
    assert calls(*pieces, piece(0, "a", "read", "{}")) == [("read", "{}")]


@pytest.mark.parametrize(
    "events",
    [
        [{"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 80}}],
        [{"usage": {"prompt_tokens": 120, "completion_tokens": 80}}],
        [{"choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": n}} for n in (1, 40, 80)],
        [{"choices": [{"delta": {}, "usage": {"prompt_tokens": 120, "completion_tokens": 80}}]}],
        [{"choices": [], "x_groq": {"usage": {"prompt_tokens": 120, "completion_tokens": 80}}}, {"usage": None}],
    ],
)
def test_usage_is_counted_once_wherever_it_stands(events: list[dict[str, Any]]) -> None:
    """In a last chunk of its own, in every chunk as it grows, in the choice (Moonshot), aside (Groq)."""
    chunks = Chunks()
    for event in [{"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}, *events]:
        chunks.add(event)
    reply = read(chunks.body())
    assert (reply.usage.input, reply.usage.output, reply.text) == (120, 80, "a")


def test_without_usage_it_is_unknown_and_without_a_choice_there_is_none() -> None:
    """Nothing is made up."""
    assert "usage" not in gathered({"content": "a"})
    assert Chunks().body()["choices"] == []


def test_an_error_after_the_end_of_the_reply_is_too_late() -> None:
    """Before, it is the body's; a choice may hold one of its own."""
    assert gathered({}, finish=None, error={"message": "no"})["error"] == {"message": "no"}
    chunks = Chunks()
    chunks.add({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]})
    chunks.add({"error": {"message": "usage could not be counted"}})
    assert "error" not in chunks.body()


def test_other_choices_are_not_mixed_in() -> None:
    """Only the first was asked for."""
    chunks = Chunks()
    chunks.add({"choices": [{"index": 1, "delta": {"content": "b"}}, {"index": 0, "delta": {"content": "a"}}]})
    assert chunks.body()["choices"][0]["message"]["content"] == "a"


WORDS = st.text(alphabet='ab🙂\n"{}', max_size=8)


@given(
    WORDS,
    st.lists(st.tuples(st.sampled_from(["read", "pay"]), st.dictionaries(WORDS, WORDS, max_size=2)), max_size=3),
    st.data(),
)
def test_a_streamed_reply_is_the_reply(
    text: str, wanted: list[tuple[str, dict[str, str]]], data: st.DataObject
) -> None:
    """However a message is cut into pieces, and in whatever order the pieces of its calls come: what is read is what
    would be read of the message in one piece."""
    made = [
        {"id": f"c{k}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for k, (name, arguments) in enumerate(wanted)
    ]
    message = {"role": "assistant", "content": text} | ({"tool_calls": made} if made else {})
    finish = "tool_calls" if made else "stop"
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    streams = [[{"content": text[k : k + 2]} for k in range(0, max(len(text), 1), 2)]]
    for k, call in enumerate(made):
        arguments = call["function"]["arguments"]
        cuts = [piece(k, None, None, arguments[n : n + 3]) for n in range(0, len(arguments), 3)]
        streams.append([piece(k, call["id"], call["function"]["name"], ""), *cuts])
    chunks = Chunks()
    while streams:
        stream = data.draw(st.sampled_from(streams))
        chunks.add({"choices": [{"index": 0, "delta": stream.pop(0), "finish_reason": None}]})
        streams = [stream for stream in streams if stream]
    chunks.add({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    assert read(chunks.body()) == read(whole)
