"""Anthropic's Messages.

https://platform.claude.com/docs/en/api/messages, https://platform.claude.com/docs/en/api/errors,
https://platform.claude.com/docs/en/build-with-claude/structured-outputs
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from loopworth.models.dialects.anthropic_stream import Blocks
from loopworth.models.dialects.closed_schema import closed
from loopworth.models.dialects.history import SYSTEM, arguments_of, settings, tools_called
from loopworth.models.errors import Trouble, trouble
from loopworth.models.parts import parts, picture, spoken
from loopworth.models.reading import content_text, count, read
from loopworth.models.spec import ModelSpec
from loopworth.runs.message import Message, Reply, Request

VERSION = "2023-06-01"
HOME = "https://api.anthropic.com/"
MOST_OUTPUT = 4096
"""Output tokens where nobody says: this endpoint wants a limit."""
CHOICES: dict[str, dict[str, Any]] = {"auto": {"type": "auto"}, "required": {"type": "any"}, "none": {"type": "none"}}
PLAIN = ("text", "tool_use")
BLOCKS = "blocks"
"""The key under which a message keeps the blocks it came in, where they hold more than text and calls: thinking with
its signatures has to go back unchanged and in its place."""
SEALED = {"thinking": "signature", "redacted_thinking": "data"}
"""What the endpoint takes a block of thoughts back by; without it, it refuses the whole request."""


class Anthropic:
    """The system prompt stands at the top, content comes in blocks, and results go back in a user's message."""

    name = "anthropic"

    def url(self, base_url: str) -> str:
        return f"{base_url.rstrip('/').removesuffix('/v1')}/v1/messages"

    def headers(self, base_url: str, key: str) -> dict[str, str | None]:
        """The key goes in a header of its own; servers elsewhere that speak this may want it as a bearer as well."""
        own: dict[str, str | None] = {"anthropic-version": VERSION}
        if key != "none":
            own["x-api-key"] = key
        if self.url(base_url).startswith(HOME):
            own["Authorization"] = None
        return own

    def body(self, spec: ModelSpec, request: Request, most: int | None) -> dict[str, Any]:
        body = settings(model=spec.model, temperature=spec.temperature) | settings(**spec.extra)
        body["max_tokens"] = MOST_OUTPUT if most is None else most
        if request.stop:
            body.setdefault("stop_sequences", request.stop)
        system, body["messages"] = parted(request.messages)
        tools, choice = offered(request)
        if tools:
            body["tools"] = [tool_of(tool) for tool in tools]
            if choice != "auto":
                body["tool_choice"] = CHOICES.get(choice, {"type": "tool", "name": choice})
        if request.schema is not None:
            form = closed(request.schema)
            if form is None:
                system += [f"Write nothing but JSON that fits this schema: {json.dumps(request.schema)}"]
            else:
                body["output_config"] = {
                    **body.get("output_config", {}),
                    "format": {"type": "json_schema", "schema": form},
                }
        if system:
            body["system"] = "\n\n".join(system)
        return body

    def streamed(self, body: dict[str, Any]) -> dict[str, Any]:
        return {**body, "stream": True}

    def gather(self) -> Blocks:
        return Blocks()

    def read(self, body: dict[str, Any], limit: int | None, turn: int) -> Reply:
        choice = {"message": message_of(body), "finish_reason": body.get("stop_reason")}
        return read({"choices": [choice], "usage": usage_of(body.get("usage"))}, limit, turn)

    def trouble(self, status: int, body: Any, headers: Mapping[str, str], now: float) -> Trouble | None:
        return trouble(status, body, headers, now, answers)


def answers(body: Any) -> bool:
    """Whether the body is a reply."""
    return isinstance(body, dict) and isinstance(body.get("content"), list)


# -- the way out -------------------------------------------------------------------------------------------------------


def offered(request: Request) -> tuple[Sequence[dict[str, Any]], str]:
    """The tools of a request and the choice among them. A history with calls is refused without any tools, so those
    that it calls are named, and none may be called."""
    if request.tools:
        return request.tools, request.tool_choice
    return tools_called(request.messages), "none"


def tool_of(tool: dict[str, Any]) -> dict[str, Any]:
    function = tool["function"]
    return settings(name=function["name"], description=function.get("description"), input_schema=function["parameters"])


def parted(messages: list[Message]) -> tuple[list[str], list[Message]]:
    """The texts of the system messages that open the history, and the rest of it in turns that alternate.

    A later system message is said as the user: few models take one there.
    """
    opening = next((k for k, message in enumerate(messages) if message["role"] not in SYSTEM), len(messages))
    system = [text for message in messages[:opening] if (text := content_text(message.get("content")))]
    turns = list[Message]()
    for message in messages[opening:]:
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = list(said(message) if role == "assistant" else heard(message))
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    if not turns:
        return [], [{"role": "user", "content": "\n\n".join(system) or "…"}]
    return system, turns


def said(message: Message) -> Iterator[dict[str, Any]]:
    """The blocks of a reply: those that it came in, with its calls as they stand in the history now."""
    calls = {call["id"]: call for call in message.get("tool_calls", ())}
    kept = message.get(BLOCKS)
    if not kept:
        yield from written(content_text(message.get("content")))
    for block in kept or ():
        match block.get("type"):
            case "text" if not content_text([block]).strip():
                continue
            case "thinking" | "redacted_thinking" as kind if not block.get(SEALED[kind]):
                continue
            case "tool_use":
                if (call := calls.pop(str(block.get("id")), None)) is not None:
                    yield {**block, **use_of(call)}
            case str():
                yield block
    yield from map(use_of, calls.values())


def use_of(call: dict[str, Any]) -> dict[str, Any]:
    name = call["function"]["name"]
    return {"type": "tool_use", "id": fitting(call["id"]), "name": name, "input": arguments_of(call)}


def heard(message: Message) -> Iterator[dict[str, Any]]:
    """The blocks of what a user or a tool says."""
    content = message.get("content")
    if "tool_call_id" in message:
        text = content_text(content)
        yield {"type": "tool_result", "tool_use_id": fitting(message["tool_call_id"]), "content": text}
        return
    for part in parts(content):
        if spoken(part):
            yield from written(content_text([part]))
        else:
            yield seen(part)


def seen(part: dict[str, Any]) -> dict[str, Any]:
    """An image as a block; any other part is one already, or refused by name and not dropped in silence."""
    image = picture(part)
    if image is None:
        return part
    media, data = image
    source = {"type": "base64", "media_type": media, "data": data} if media else {"type": "url", "url": data}
    return {"type": "image", "source": source}


def written(text: str) -> Iterator[dict[str, Any]]:
    """A block of text; an empty one is refused, so there is none."""
    if text.strip():
        yield {"type": "text", "text": text}


def fitting(id: str) -> str:
    """A call's id as this endpoint takes one."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", id)


# -- the way back ------------------------------------------------------------------------------------------------------


def message_of(body: dict[str, Any]) -> Message:
    """The blocks as a message of the history, which keeps them where they hold more than text and calls."""
    blocks = [block for block in body["content"] if isinstance(block, dict)]
    calls = [call_of(block) for block in blocks if block.get("type") == "tool_use"]
    text = content_text([block for block in blocks if block.get("type") == "text"])
    message: Message = {"role": "assistant", "content": text if text or not calls else None, "tool_calls": calls}
    if any(block.get("type") not in PLAIN for block in blocks):
        message[BLOCKS] = blocks
    if body.get("stop_reason") == "refusal":
        message["refusal"] = refusal(body.get("stop_details"))
    return message


def call_of(block: dict[str, Any]) -> dict[str, Any]:
    return {"id": block.get("id"), "function": {"name": block.get("name"), "arguments": block.get("input")}}


def refusal(details: Any) -> str:
    """Why the reply was refused, as far as it is told."""
    details = details if isinstance(details, dict) else {}
    told = [str(details[key]) for key in ("category", "explanation") if details.get(key)]
    return ": ".join(told) or "the model refused"


def usage_of(usage: Any) -> dict[str, Any] | None:
    """The counts in OpenAI's words: what is written to the cache or read from it is input as well, each once."""
    if not isinstance(usage, dict):
        return None
    rest, output = count(usage, "input_tokens"), count(usage, "output_tokens")
    reread, written = (count(usage, f"cache_{way}_input_tokens") or 0 for way in ("read", "creation"))
    details = usage.get("output_tokens_details")
    thought = count(details, "thinking_tokens") if isinstance(details, dict) else None
    return {
        "prompt_tokens": None if rest is None else rest + reread + written,
        "completion_tokens": output,
        "prompt_tokens_details": {"cached_tokens": reread, "cache_write_tokens": written},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
