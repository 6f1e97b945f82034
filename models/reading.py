"""From an endpoint's answer to a `Reply`, whatever shape the endpoint gives it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from loopworth.models.errors import filtered
from loopworth.runs.going_round import endless
from loopworth.runs.message import Message, Reply, ToolCall, printable
from loopworth.runs.usage import Usage

FINISHES = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
    "": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "tool_call": "tool_calls",
    "function_call": "tool_calls",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "pause_turn": "length",
    "model_context_window_exceeded": "context_overflow",
    "refusal": "refusal",
    "safety": "content_filter",
    "sensitive": "content_filter",
    "blocklist": "content_filter",
    "prohibited_content": "content_filter",
    "recitation": "content_filter",
    "spii": "content_filter",
    "image_safety": "content_filter",
    "model_armor": "content_filter",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
}
"""The finish reasons that endpoints give, in lower case, and what each means."""


def read(body: dict[str, Any], limit: int | None = None, turn: int = 0) -> Reply:
    """The reply in the body of an answer in which `errors.trouble` found none.

    `limit` is the most output tokens that were asked for; `turn` makes the ids of calls without one unlike those of
    other turns.
    """
    choice = first_choice(body["choices"])
    wire = choice.get("message")
    message, calls = told(wire if isinstance(wire, dict) else {}, turn)
    text = content_text(message.get("content"))
    usage = used(body.get("usage"), bool(text or calls))
    finish, note = finish_of(choice, message, calls)
    if not text.strip() and not calls and any(message.get(name) for name in REASONING):
        note = note or "the reply held nothing but reasoning"
    if finish == "length":
        note = note or cut_note(usage, limit, text)
    elif calls and limit is not None and usage.output is not None and usage.output >= limit:
        calls[-1] = ToolCall(calls[-1].id, calls[-1].tool, calls[-1].arguments, probably_cut(limit))
    return Reply(message, tuple(calls), text, finish, usage, note=note)


def first_choice(choices: list[Any]) -> dict[str, Any]:
    """The choice that is read: one is asked for. Some endpoints put what was said into one and the calls into another.

    Such a one has the same place or none, or the first says that it calls; others are a second answer to the question.
    """
    first, *others = (choice for choice in choices if isinstance(choice, dict))
    message = first.get("message")
    if not isinstance(message, dict) or message.get("tool_calls"):
        return first
    calls = FINISHES.get(str(first.get("finish_reason") or "").lower()) == "tool_calls"
    for other in others:
        more = other.get("message") if calls or other.get("index") in (None, first.get("index")) else None
        if isinstance(more, dict) and more.get("tool_calls"):
            parted = {"content": message.get("content") or more.get("content"), "tool_calls": more["tool_calls"]}
            return {**first, "message": message | parted, "finish_reason": other.get("finish_reason")}
    return first


def told(wire: dict[str, Any], turn: int) -> tuple[Message, list[ToolCall]]:
    """The message as it goes back into the history, and its calls.

    Nulls are dropped and what the provider adds is kept. Every call has an id of its own and arguments that are text;
    `ToolCall.arguments` is what came.
    """
    message: Message = {"role": "assistant"}
    message.update((key, value) for key, value in wire.items() if value is not None)
    message["role"] = "assistant"
    if not isinstance(message.get("content", ""), str | list):
        message["content"] = content_text(message["content"])
    think(message)
    legacy, listed = message.pop("function_call", None), message.pop("tool_calls", None)
    listed = [listed] if isinstance(listed, dict) else listed if isinstance(listed, list) else []
    if not listed and isinstance(legacy, dict):
        listed = [{"function": legacy}]
    calls: list[ToolCall] = []
    wires = list(called(listed, turn, calls))
    if wires:
        message["tool_calls"] = wires
    elif "content" not in message:
        message["content"] = ""
    return message, calls


REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking", "blocks")
"""Where endpoints put what a model thought."""
THOUGHT = re.compile(r"\s*<(think|thinking)>(.*?)(?:</\1>\s*|\Z)", re.DOTALL)
UNOPENED = re.compile(r"(.*?)</think>\s*", re.DOTALL)


def think(message: Message) -> None:
    """Move what a model thinks aloud, in tags before its answer, from the content to `reasoning_content`.

    A tag that is never closed holds all that follows, since the reply was cut in it. One that is never opened holds all
    that comes before: some servers open it in the prompt.
    """
    content, thoughts = message.get("content"), []
    if not isinstance(content, str) or "think" not in content:
        return
    while (match := THOUGHT.match(content)) is not None:
        thoughts.append(match[2])
        content = content[match.end() :]
    if not thoughts and "<think" not in content and (match := UNOPENED.match(content)) is not None:
        thoughts, content = [match[1]], content[match.end() :]
    if thoughts:
        before = message.get("reasoning_content")
        aloud = [before, *thoughts] if isinstance(before, str) else thoughts
        message["content"] = content
        if thought := "\n".join(filter(None, map(str.strip, aloud))):
            message["reasoning_content"] = thought


def thoughts(message: Message) -> str:
    """What a message of the history says was thought, as far as it can be read."""
    told = (message.get(name) for name in ("reasoning_content", "reasoning", "thinking"))
    found = [words for words in told if isinstance(words, str) and words.strip()]
    blocks = message.get("blocks")
    spoken = (
        block.get("thinking") for block in (blocks if isinstance(blocks, list) else ()) if isinstance(block, dict)
    )
    return "\n".join([*found[:1], *(words for words in spoken if isinstance(words, str) and words.strip())])


def called(listed: list[Any], turn: int, calls: list[ToolCall]) -> Iterator[dict[str, Any]]:
    """The wire shape of each call, whole again; `calls` gets the calls themselves."""
    taken = {call["id"] for call in listed if isinstance(call, dict) and isinstance(call.get("id"), str)}
    given: set[str] = set()
    for k, call in enumerate(call for call in listed if isinstance(call, dict)):
        inner = call.get("function") or call.get("custom") or call
        inner = inner if isinstance(inner, dict) else {}
        name = str(inner.get("name") or "")
        arguments = inner.get("arguments", inner.get("input"))
        id = call.get("id")
        if not isinstance(id, str) or not id or id in given:
            id = fresh_id(turn, k, taken)
        given.add(id)
        calls.append(ToolCall(id, printable(name), arguments))
        extras = {key: value for key, value in call.items() if value is not None and key not in INNER}
        more = {key: value for key, value in inner.items() if value is not None and key not in INNER}
        function = {**({} if inner is call else more), "name": name, "arguments": argument_text(arguments)}
        yield {**extras, "id": id, "type": "function", "function": function}


INNER = ("id", "type", "function", "custom", "name", "arguments", "input")


def fresh_id(turn: int, k: int, taken: set[str]) -> str:
    id = f"call_{turn}_{k}"
    while id in taken:
        id += "x"
    taken.add(id)
    return id


def argument_text(arguments: Any) -> str:
    """Arguments as the history needs them: text, an empty object where there are none."""
    if isinstance(arguments, str):
        return arguments if arguments.strip() else "{}"
    return "{}" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def content_text(content: Any) -> str:
    """The text of a message's content: a text, nothing, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return "" if content is None else str(content)
    return "".join(part_text(part) for part in content)


def part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    spoken = isinstance(part, dict) and part.get("type", "text") in ("text", "output_text")
    return part["text"] if spoken and isinstance(part.get("text"), str) else ""


def finish_of(choice: dict[str, Any], message: Message, calls: list[ToolCall]) -> tuple[str, str]:
    """The finish in our words, and a note where it needs one."""
    said = str(choice.get("finish_reason") or "")
    known = said.lower().partition(":")[0].strip()  # some say the cause behind a colon
    finish = FINISHES.get(known, "stop")
    if finish == "content_filter":
        found = sorted(set(filtered(choice)))
        return finish, f"the provider's content filter stopped the reply{': ' * bool(found)}{', '.join(found)}"
    if finish in ("stop", "tool_calls", "refusal") and (refusal := refusal_of(message)):
        return "refusal", refusal
    if calls and finish == "stop":
        finish = "tool_calls"
    if finish == "tool_calls" and not calls:
        return finish, "the finish reason says tool calls, and the reply holds none"
    if known == "pause_turn":
        return finish, "the provider paused the turn amid a tool of its own: this version does not go on with it"
    if finish == "context_overflow":
        return finish, "the reply ran into the end of the model's context"
    return finish, "" if known in FINISHES else f"unknown finish reason {said!r}"


def refusal_of(message: Message) -> str:
    """The model's refusal, in its own field or as a part of the content."""
    said = message.get("refusal")
    if isinstance(said, str) and said:
        return said
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return "".join(str(p.get("refusal") or "") for p in parts if isinstance(p, dict) and p.get("type") == "refusal")


def cut_note(usage: Usage, limit: int | None, text: str) -> str:
    """What a reply cut at its output limit says about it."""
    tokens = limit if limit is not None else usage.output
    size = "" if tokens is None else f" of {tokens} tokens"
    if usage.reasoning and not text.strip():
        return f"the output limit{size} was used up by reasoning ({usage.reasoning} tokens): raise max_tokens"
    more = "it says the same over and over, and more room would not end it" if endless(text) else "raise max_tokens"
    return f"the reply was cut at the output limit{size}: {more}"


def probably_cut(limit: int) -> str:
    return f"the reply was probably cut at the output limit of {limit} tokens"


def used(wire: Any, spoke: bool = False) -> Usage:
    """Tokens as the endpoint counts them, cost left unknown; what it does not say is unknown, never 0.

    Where the total is larger than its parts, the rest is output that the endpoint does not name, and counted as such;
    it also tells the size of a part that is missing. A part that is larger than the whole it belongs to was counted
    beside it. `spoke`: the reply holds something, so that a count of nothing at all says nothing.
    """
    if not isinstance(wire, dict):
        return UNKNOWN
    input = count(wire, "prompt_tokens", "input_tokens")
    output = count(wire, "completion_tokens", "output_tokens")
    total = count(wire, "total_tokens")
    if spoke and not input and not output and not total:
        return UNKNOWN
    prompt = details(wire, "prompt_tokens_details", "input_tokens_details")
    completion = details(wire, "completion_tokens_details", "output_tokens_details")
    reasoning = count(completion, "reasoning_tokens") or 0
    if total is not None and input is not None and total > input + (output or 0):
        if output is not None:
            reasoning = max(reasoning, total - input - output)  # some count it there, and beside the output
        output = total - input
    if total is not None and input is None and output is not None and total >= output + reasoning:
        input = total - output
    cached = count(prompt, "cached_tokens") or count(wire, *CACHED) or 0
    written = count(prompt, "cache_write_tokens") or count(wire, "cache_creation_input_tokens") or 0
    input, output = whole(input, cached + written), whole(output, reasoning)
    return Usage(input, output, cached, reasoning, None, cache_written=written)


UNKNOWN = Usage(None, None, usd=None)
CACHED = ("prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens")
"""Where DeepSeek, Anthropic's relatives and Moonshot say how much of the prompt was read from a cache."""


def whole(tokens: int | None, part: int) -> int | None:
    """The tokens of which `part` are some."""
    return tokens if tokens is None or part <= tokens else tokens + part


MANY, DIGITS = 1e15, 16
"""More tokens than any call can use, and their digits: a larger figure is no count."""


def count(wire: dict[str, Any], *names: str) -> int | None:
    """The first of these that holds a count, be it written as text."""
    for name in names:
        value = wire.get(name)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < DIGITS:
            value = int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MANY:
            return int(value)
    return None


def details(wire: dict[str, Any], *names: str) -> dict[str, Any]:
    """The first of these that is a mapping; empty where none is."""
    return next((value for name in names if isinstance(value := wire.get(name), dict)), {})
