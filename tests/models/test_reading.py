"""What an endpoint sends, in every shape seen, becomes one `Reply`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopworth.models.errors import trouble
from loopworth.models.reading import read, used
from loopworth.runs.message import Reply
from loopworth.runs.usage import Usage
from tests.endpoint import USAGE, wire


def reply(message: Any, finish: str | None = "stop", usage: Any = USAGE, **rest: Any) -> Reply:
    return read(wire(message, finish, usage), **rest)


def call(**fields: Any) -> dict[str, Any]:
    return {"id": "call_1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}} | fields


def test_text_beside_a_call_is_kept_and_the_call_is_read() -> None:
    """MS-01: words beside a call stay in the history, and the call is a call."""
    said = reply({"role": "assistant", "content": "Let me look.", "tool_calls": [call()]}, "tool_calls")
    assert (said.text, said.finish) == ("Let me look.", "tool_calls")
    assert said.message == {"role": "assistant", "content": "Let me look.", "tool_calls": [call()]}
    assert [(c.id, c.tool, c.arguments) for c in said.calls] == [("call_1", "lookup", "{}")]


def test_null_content_is_no_text_and_never_the_word_none() -> None:
    """MS-03: a message without words has an empty text, in the history as well."""
    said = reply({"role": "assistant", "content": None})
    assert (said.text, said.message, said.finish) == ("", {"role": "assistant", "content": ""}, "stop")
    assert reply({"role": "assistant", "content": None, "tool_calls": [call()]}).text == ""


@pytest.mark.parametrize("message", [None, "hello", [], {}])
def test_a_missing_message_is_an_empty_one(message: Any) -> None:
    """A choice without a usable message reads as an empty reply."""
    said = reply(message, None)
    assert (said.text, said.calls, said.message["role"]) == ("", (), "assistant")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "a"}, {"type": "output_text", "text": "b"}], "ab"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}], "a"),
        (["a", {"text": "b"}, None, {"type": "text", "text": None}], "ab"),
        ({"type": "text", "text": "a"}, "a"),
        ([], ""),
        (12, "12"),
    ],
)
def test_content_in_parts_is_one_text(content: Any, text: str) -> None:
    """A list of parts is read as the text in it; other parts add none."""
    assert reply({"content": content}).text == text


@pytest.mark.parametrize(("content", "kept"), [(0, "0"), ({"text": "a"}, "a"), (True, "True"), ({}, ""), (None, "")])
def test_content_of_another_type_goes_back_as_its_text(content: Any, kept: str) -> None:
    """No endpoint takes a number or an object there, not even the one that sent it."""
    assert reply({"content": content}).message == {"role": "assistant", "content": kept}


@pytest.mark.parametrize("calls", [[], None])
def test_an_empty_list_of_calls_does_not_go_back(calls: Any) -> None:
    """FR-03: `tool_calls: []` with a text is an answer, and the list is not sent back."""
    said = reply({"role": "assistant", "content": "The total is 12.", "tool_calls": calls})
    assert (said.text, said.finish, said.calls) == ("The total is 12.", "stop", ())
    assert said.message == {"role": "assistant", "content": "The total is 12."}


def test_calls_without_ids_get_different_ones() -> None:
    """CI-02: two calls without an id get two ids, the same in the history as in the calls."""
    bare = {"type": "function", "function": {"name": "read", "arguments": "{}"}}
    said = reply({"tool_calls": [bare, bare, call(id=""), call(id=None)]}, "tool_calls", turn=3)
    ids = [c.id for c in said.calls]
    assert len(set(ids)) == 4
    assert ids == [wire["id"] for wire in said.message["tool_calls"]]
    assert ids[0] != reply({"tool_calls": [bare]}, turn=5).calls[0].id


def test_an_id_used_twice_in_a_reply_is_given_once() -> None:
    """Every call has an id of its own, and the first keeps the endpoint's."""
    said = reply({"tool_calls": [call(id="a"), call(id="a"), call(id="call_0_1")]}, "tool_calls")
    ids = [c.id for c in said.calls]
    assert ids[0] == "a"
    assert len(set(ids)) == 3
    assert "call_0_1" in ids


@pytest.mark.parametrize(
    ("arguments", "sent_back"),
    [(None, "{}"), ("", "{}"), ({"a": 1}, '{"a": 1}'), ('{"a": 1}', '{"a": 1}'), ("{broken", "{broken")],
)
def test_arguments_go_back_as_text_and_are_kept_as_they_came(arguments: Any, sent_back: str) -> None:
    """The history needs text; the tool layer sees what the model sent."""
    said = reply({"tool_calls": [call(function={"name": "f", "arguments": arguments})]}, "tool_calls")
    assert said.calls[0].arguments == arguments
    assert said.message["tool_calls"][0]["function"] == {"name": "f", "arguments": sent_back}


def test_a_call_without_arguments_is_a_call() -> None:
    """Arguments may be missing altogether."""
    said = reply({"tool_calls": [{"id": "a", "function": {"name": "now"}}]}, "tool_calls")
    assert (said.calls[0].tool, said.calls[0].arguments) == ("now", None)


def test_the_old_function_call_becomes_a_tool_call() -> None:
    """`function_call` is one call, and goes back as `tool_calls`."""
    said = reply({"content": None, "function_call": {"name": "f", "arguments": "{}"}}, "function_call")
    assert (said.finish, said.calls[0].tool) == ("tool_calls", "f")
    assert set(said.message) == {"role", "tool_calls"}


def test_what_a_provider_adds_is_kept_and_nulls_are_dropped() -> None:
    """Signatures and reasoning must go back; `null` fields must not."""
    signed = call(extra_content={"google": {"thought_signature": "s"}}, index=0)
    said = reply({"role": None, "content": "", "refusal": None, "reasoning_content": "hm", "tool_calls": [signed]})
    assert said.message["reasoning_content"] == "hm"
    assert said.message["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "s"}}
    assert "refusal" not in said.message


@pytest.mark.parametrize(
    "message",
    [{"content": None, "refusal": "I cannot help."}, {"content": [{"type": "refusal", "refusal": "I cannot help."}]}],
)
def test_a_refusal_is_no_answer(message: Any) -> None:
    """The refusal's own words are the note."""
    said = reply(message)
    assert (said.finish, said.note) == ("refusal", "I cannot help.")


@pytest.mark.parametrize(
    ("said", "finish"),
    [
        ("stop", "stop"),
        (None, "stop"),
        ("STOP", "stop"),
        ("end_turn", "stop"),
        ("eos", "stop"),
        ("length", "length"),
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("content_filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("content_filter: PROHIBITED_CONTENT", "content_filter"),
        ("guardrail_intervened", "content_filter"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context_overflow"),
        ("banana", "stop"),
    ],
)
def test_finish_reasons_are_normalised(said: str | None, finish: str) -> None:
    """Endpoints have many words for few ends."""
    assert reply({"content": "x", "refusal": "no" if finish == "refusal" else None}, said).finish == finish


def test_an_unknown_finish_reason_is_noted() -> None:
    """It counts as a normal end, and says what it was."""
    assert reply({"content": "x"}, "banana").note == "unknown finish reason 'banana'"


def test_calls_under_a_wrong_finish_reason_are_calls() -> None:
    """Some endpoints say `stop` beside calls."""
    assert reply({"tool_calls": [call()]}, "stop").finish == "tool_calls"


def test_a_tool_turn_without_calls_says_so() -> None:
    """FR-01: the finish stays `tool_calls`, so that the loop can name the empty turn."""
    said = reply({"content": "", "tool_calls": []}, "tool_calls")
    assert (said.finish, said.calls) == ("tool_calls", ())
    assert "holds none" in said.note


def test_a_filtered_reply_keeps_its_finish_beside_calls_and_names_the_category() -> None:
    """FR-07: calls do not turn a filtered reply into a tool turn."""
    body = wire({"tool_calls": [call()]}, "content_filter")
    body["choices"][0]["content_filter_results"] = {"violence": {"filtered": True}, "hate": {"filtered": False}}
    said = read(body)
    assert said.finish == "content_filter"
    assert said.note.endswith(": violence")


def test_a_limit_used_up_by_reasoning_says_so_and_names_the_limit() -> None:
    """FR-05: nothing came out, since reasoning took all of it."""
    usage = {"completion_tokens": 4096, "completion_tokens_details": {"reasoning_tokens": 4096}}
    said = reply({"content": ""}, "length", usage, limit=4096)
    assert (said.finish, said.text) == ("length", "")
    assert "output limit of 4096 tokens was used up by reasoning" in said.note
    assert "4096" in reply({"content": ""}, "length", usage).note


def test_a_cut_reply_names_the_limit() -> None:
    """A cut text says how long it may have been."""
    assert reply({"content": "Half of the"}, "length", limit=7).note.startswith(
        "the reply was cut at the output limit of 7"
    )


@pytest.mark.parametrize(("text", "more"), [("Half of the", "raise max_tokens"), ("so on and " * 40, "over and over")])
def test_a_cut_reply_that_goes_round_wants_no_more_room(text: str, more: str) -> None:
    """It would end the same way, as a diagnosis of the run says too."""
    note = reply({"content": text}, "length", limit=7).note
    said = [words for words in ("raise max_tokens", "over and over") if words in note]
    assert said == [more]


def test_a_call_at_the_output_limit_carries_a_note() -> None:
    """An endpoint that hides a cut is found out by the count; only the last call can have been cut."""
    said = reply({"tool_calls": [call(id="a"), call(id="b")]}, "tool_calls", {"completion_tokens": 50}, limit=50)
    assert [c.note for c in said.calls] == ["", "the reply was probably cut at the output limit of 50 tokens"]
    assert reply({"tool_calls": [call()]}, "tool_calls", {"completion_tokens": 49}, limit=50).calls[0].note == ""


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, (None, None, 0, 0)),
        ("none", (None, None, 0, 0)),
        ({"prompt_tokens": 12, "completion_tokens": None, "total_tokens": None}, (12, None, 0, 0)),
        ({"prompt_tokens": 12, "total_tokens": 20}, (12, 8, 0, 0)),
        ({"completion_tokens": 5, "total_tokens": 20}, (15, 5, 0, 0)),
        ({"completion_tokens": 5, "total_tokens": 3}, (None, 5, 0, 0)),
        ({"total_tokens": 20}, (None, None, 0, 0)),
        ({"prompt_tokens": 15, "completion_tokens": 150, "total_tokens": 2165}, (15, 2150, 0, 2000)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}, (5, 2, 4, 0)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": None}, (5, 2, 0, 0)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "prompt_cache_hit_tokens": 3}, (5, 2, 3, 0)),
        ({"prompt_tokens": 5, "completion_tokens": 2, "cached_tokens": 3}, (5, 2, 3, 0)),
        ({"prompt_tokens": True, "completion_tokens": -1}, (None, None, 0, 0)),
        ({"prompt_tokens": float("inf"), "completion_tokens": 3.0}, (None, 3, 0, 0)),
    ],
)
def test_tokens_that_are_not_told_are_unknown(usage: Any, expected: tuple[Any, ...]) -> None:
    """US-01, US-03, US-09: never 0, and what the total holds beyond its parts is counted as output."""
    assert used(usage) == Usage(*expected, usd=None)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, (None, None, 0, 0)),
        ({"prompt_tokens": "12", "completion_tokens": "7"}, (12, 7, 0, 0)),
        ({"prompt_tokens": "many", "completion_tokens": "-1"}, (None, None, 0, 0)),
        ({"prompt_tokens": "9" * 5000, "completion_tokens": "²"}, (None, None, 0, 0)),
        ({"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 90}, (100, 50, 0, 0)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "cache_read_input_tokens": 90}, (100, 5, 90, 0)),
        ({"completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 40}}, (None, 45, 0, 40)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": [1]}, (10, 5, 0, 0)),
        ({"prompt_tokens": 15, "completion_tokens": 150, "total_tokens": 175}, (15, 160, 0, 10)),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 55,
                "completion_tokens_details": {"reasoning_tokens": 40},
            },
            (10, 45, 0, 40),
        ),
    ],
)
def test_counts_that_cannot_be_are_mended_or_unknown(usage: Any, expected: tuple[Any, ...]) -> None:
    """A part that is larger than its whole was counted beside it; nothing at all, for a reply, is no count."""
    assert reply({"content": "x"}, usage=usage).usage == Usage(*expected, usd=None)


def test_what_is_written_to_a_cache_is_counted_as_input_once() -> None:
    """In OpenRouter's words and in Anthropic's."""
    usage = {"prompt_tokens": 100, "completion_tokens": 7}
    for more in ({"prompt_tokens_details": {"cache_write_tokens": 50}}, {"cache_creation_input_tokens": 50}):
        assert used({**usage, **more}) == Usage(100, 7, usd=None, cache_written=50)


COUNTS = st.none() | st.booleans() | st.integers(-5, 10**18) | st.floats() | st.text(max_size=4) | st.just({})
DETAILS = st.none() | st.dictionaries(
    st.sampled_from(["cached_tokens", "cache_write_tokens", "reasoning_tokens"]), COUNTS, max_size=3
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "cache_read_input_tokens"]
        ),
        COUNTS,
    ),
    DETAILS,
    DETAILS,
)
def test_every_count_is_a_part_of_its_whole(usage: dict[str, Any], prompt: Any, completion: Any) -> None:
    """Whatever is sent: no count is negative, none exceeds what it is part of, none of the total is lost."""
    found = used({**usage, "prompt_tokens_details": prompt, "completion_tokens_details": completion})
    assert min(found.cached, found.cache_written, found.reasoning) >= 0
    assert found.input is None or found.input >= found.cached + found.cache_written
    assert found.output is None or found.output >= found.reasoning
    total = usage.get("total_tokens")
    if found.tokens is not None and type(total) is int and 0 <= total < 10**15:
        assert found.tokens >= total


@pytest.mark.parametrize(
    ("content", "text", "thought"),
    [
        ("<think>\nhm\n</think>\n\n42", "42", "hm"),
        ("  <think>hm</think>42", "42", "hm"),
        ("<thinking>a</thinking>\n<think>b</think> 42", "42", "a\nb"),
        ("<think>hm", "", "hm"),
        ("<think></think>42", "42", None),
        ("hm\n</think>\n42", "42", "hm"),
        ("Use the <think> tag: <think>so</think>.", "Use the <think> tag: <think>so</think>.", None),
        ("It ends with </think> where <think> began.", "It ends with </think> where <think> began.", None),
        ("I think so.", "I think so.", None),
        ("<think>a</thinking>b", "", "a</thinking>b"),
    ],
)
def test_what_is_thought_in_tags_is_no_part_of_the_answer(content: str, text: str, thought: str | None) -> None:
    """Before the answer it is reasoning, closed or not, opened or not; within the answer it is text."""
    said = reply({"role": "assistant", "content": content})
    assert (said.text, said.message["content"]) == (text, text)
    assert said.message.get("reasoning_content") == thought


def test_thoughts_in_tags_come_after_those_told_apart() -> None:
    """A reply may hold both; neither is lost."""
    said = reply({"content": "<think>b</think>42", "reasoning_content": "a"})
    assert (said.text, said.message["reasoning_content"]) == ("42", "a\nb")


def test_a_limit_used_up_in_a_thought_leaves_no_answer() -> None:
    """The tag was never closed: half a thought is not half an answer."""
    said = reply({"content": "<think>First I"}, "length", {"completion_tokens": 9}, limit=9)
    assert (said.finish, said.text) == ("length", "")
    assert reply({"content": "<think>First I"}).note == "the reply held nothing but reasoning"


FIELD = st.sampled_from(
    ["role", "content", "tool_calls", "function", "name", "arguments", "id", "type", "text", "refusal", "function_call"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELD, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(FIELD, JSON), JSON, JSON)
def test_any_message_is_read_and_every_call_has_one_id(message: dict[str, Any], finish: Any, usage: Any) -> None:
    """No shape raises; ids are unique and equal in history and calls."""
    body = {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}
    trouble(200, body, {}, 0.0)
    said = read(body, 10)
    ids = [c.id for c in said.calls]
    assert len(set(ids)) == len(ids)
    assert ids == [wire["id"] for wire in said.message.get("tool_calls", [])]
    assert None not in said.message.values()
