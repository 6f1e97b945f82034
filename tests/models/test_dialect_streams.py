"""The events of Ollama's and Anthropic's streams, put together: any JSON, any cut, the same as in one piece."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopworth.models.dialects import DIALECTS
from loopworth.models.streaming import Incoming

KEYS = st.sampled_from(
    [
        "type",
        "message",
        "content",
        "usage",
        "delta",
        "index",
        "content_block",
        "text",
        "thinking",
        "partial_json",
        "error",
    ]
) | st.sampled_from(
    ["done", "tool_calls", "function", "stop_reason", "input", "output_tokens", "citation", "id", "name"]
)
TYPES = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop", "error", "ping"]
) | st.sampled_from(
    ["text_delta", "input_json_delta", "thinking_delta", "signature_delta", "citations_delta", "tool_use"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.text(max_size=3) | TYPES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=14,
)
EVENTS = st.lists(st.dictionaries(KEYS, JSON, max_size=5), max_size=6)


@pytest.mark.parametrize("name", DIALECTS)
@given(events=EVENTS)
@settings(max_examples=50)
def test_no_event_raises(name: str, events: list[dict[str, Any]]) -> None:
    """What is gathered can be looked at for trouble, and read where there is none or where a deadline cuts it."""
    dialect = DIALECTS[name]
    gathering = dialect.gather()
    for event in events:
        assert isinstance(gathering.add(event), str)
    body = gathering.body()
    found = dialect.trouble(200, body, {}, 0.0)
    if gathering.spoke or found is None:
        dialect.read(body, 9, 1)


@pytest.mark.parametrize("name", DIALECTS)
@given(events=EVENTS, kind=st.sampled_from(["sse", "lines"]), cut=st.integers(0, 200))
@settings(max_examples=50)
def test_no_stream_of_events_raises(name: str, events: list[dict[str, Any]], kind: str, cut: int) -> None:
    """From the wire to the trouble or the reply."""
    dialect = DIALECTS[name]
    frame = "data: {}\n\n" if kind == "sse" else "{}\n"
    content = "".join(frame.replace("{}", json.dumps(event)) for event in events).encode()
    incoming = Incoming(dialect.gather())
    incoming.feed(content[:cut])
    incoming.feed(content[cut:])
    body = incoming.body()
    if dialect.trouble(200, body, {}, 0.0) is None:
        dialect.read(body, 9, 1)


WORDS = st.text(alphabet='ab🙂\n"{}', max_size=8)
CALLS = st.lists(st.dictionaries(WORDS, WORDS, max_size=2), max_size=2)


def pieces(text: str, size: int) -> list[str]:
    return [text[k : k + size] for k in range(0, len(text), size)]


@given(WORDS, WORDS, CALLS, st.integers(1, 4))
def test_a_streamed_anthropic_message_is_the_message(text: str, thought: str, inputs: list[Any], size: int) -> None:
    """Blocks of text, thinking with its signature, and calls, in pieces of any size."""
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": thought, "signature": "s"},
        {"type": "text", "text": text},
    ]
    blocks += [{"type": "tool_use", "id": f"t{k}", "name": "read", "input": value} for k, value in enumerate(inputs)]
    reason = "tool_use" if inputs else "end_turn"
    usage = {"input_tokens": 5, "output_tokens": 7}
    whole = {"id": "m", "type": "message", "content": blocks, "stop_reason": reason, "usage": usage}
    gathering = DIALECTS["anthropic"].gather()
    begun = {"id": "m", "content": [], "usage": {"input_tokens": 5, "output_tokens": 1}}
    heard = [gathering.add({"type": "message_start", "message": begun})]
    for index, block in enumerate(blocks):
        empty = {
            key: {} if key == "input" else "" for key in ("text", "thinking", "signature", "input") if key in block
        }
        heard.append(gathering.add({"type": "content_block_start", "index": index, "content_block": block | empty}))
        for delta in deltas(block, size):
            heard.append(gathering.add({"type": "content_block_delta", "index": index, "delta": delta}))
        gathering.add({"type": "content_block_stop", "index": index})
    assert not gathering.done
    gathering.add({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 7}})
    assert gathering.done
    assert "".join(heard) == text
    read = DIALECTS["anthropic"].read
    assert read(gathering.body(), None, 1) == read(whole, None, 1)


def deltas(block: dict[str, Any], size: int) -> list[dict[str, str]]:
    """The pieces of a block."""
    texts = {"text_delta": block.get("text"), "thinking_delta": block.get("thinking")}
    if "input" in block:
        texts["input_json_delta"] = json.dumps(block["input"])
    keys = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
    found = [{"type": kind, keys[kind]: piece} for kind, text in texts.items() if text for piece in pieces(text, size)]
    return found + ([{"type": "signature_delta", "signature": "s"}] if "signature" in block else [])


@given(WORDS, WORDS, CALLS, st.integers(1, 4))
def test_a_streamed_ollama_reply_is_the_reply(text: str, thought: str, inputs: list[Any], size: int) -> None:
    """Texts in pieces, calls whole, the counts at the end."""
    calls = [{"function": {"name": "read", "arguments": value}} for value in inputs]
    message = {"role": "assistant", "content": text, "thinking": thought} | ({"tool_calls": calls} if calls else {})
    last = {"model": "m", "done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 7}
    gathering = DIALECTS["ollama"].gather()
    parts = [{"thinking": piece, "content": ""} for piece in pieces(thought, size)]
    parts += [{"content": piece} for piece in pieces(text, size)]
    parts += [{"content": "", "tool_calls": [call]} for call in calls]
    heard = [gathering.add({"message": {"role": "assistant", **part}, "done": False}) for part in parts]
    assert not gathering.done
    gathering.add({"message": {"role": "assistant", "content": "", "thinking": ""}, **last})
    assert (gathering.done, "".join(heard)) == (True, text)
    read = DIALECTS["ollama"].read
    assert read(gathering.body(), None, 1) == read({"message": message, **last}, None, 1)


def test_what_a_stream_used_is_known_at_its_end_only() -> None:
    """What a message begins with counts its input; a cut before the end leaves the output unknown, never 1."""
    gathering = DIALECTS["anthropic"].gather()
    gathering.add({"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}})
    gathering.add({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ha"}})
    reply = DIALECTS["anthropic"].read(gathering.body(), 9, 1)
    assert (reply.text, reply.usage.input, reply.usage.output) == ("ha", 5, None)


def test_arguments_that_are_no_json_are_told_as_they_came() -> None:
    """The model is told where they broke, as without streaming."""
    gathering = DIALECTS["anthropic"].gather()
    block = {"type": "tool_use", "id": "t", "name": "read", "input": {}}
    gathering.add({"type": "content_block_start", "index": 0, "content_block": block})
    gathering.add(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a"'}}
    )
    [call] = DIALECTS["anthropic"].read(gathering.body(), 9, 1).calls
    assert call.arguments == '{"a"'


def test_a_model_that_was_loaded_has_not_replied_yet() -> None:
    """Ollama says so in a line that is `done` as well; what comes after it is the reply."""
    loaded = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "load"}
    parts = DIALECTS["ollama"].gather()
    parts.add(loaded)
    assert not parts.done
    parts.add({"message": {"content": "hi"}, "done": True, "done_reason": "stop"})
    assert (parts.done, DIALECTS["ollama"].read(parts.body(), None, 0).text) == (True, "hi")


@pytest.mark.parametrize(
    ("event", "began"),
    [
        ({"message": {"role": "assistant", "content": "he"}, "done": False}, True),
        ({"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "load"}, False),
        ({"error": "model 'm' not found"}, False),
    ],
)
def test_a_reply_that_broke_off_after_one_line_had_begun(event: dict[str, Any], began: bool) -> None:
    """The model was at work, and what it used is unknown: not where it was only loaded, or not there."""
    ollama = DIALECTS["ollama"]
    incoming = Incoming(ollama.gather())
    incoming.feed(json.dumps(event).encode() + b"\n")
    found = ollama.trouble(200, incoming.body(), {}, 0.0)
    assert (incoming.began, found is None) == (began, False)
    assert "role" not in found.message
