"""Ollama's own chat format.

https://docs.ollama.com/api/chat, https://docs.ollama.com/api/errors, https://docs.ollama.com/capabilities/tool-calling
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopworth.models.dialects.history import arguments_of, names_by_call, settings
from loopworth.models.dialects.ollama_stream import LOADED, Parts
from loopworth.models.dialects.unread import unread
from loopworth.models.errors import Trouble, trouble
from loopworth.models.parts import picture, silent
from loopworth.models.reading import content_text, read
from loopworth.models.spec import ModelSpec
from loopworth.runs.message import Message, Reply, Request


class Ollama:
    """Arguments are objects, results go by the tool's name, and all that is set stands in `options`."""

    name = "ollama"

    def url(self, base_url: str) -> str:
        return f"{base_url.rstrip('/').removesuffix('/v1').removesuffix('/api')}/api/chat"

    def headers(self, base_url: str, key: str) -> dict[str, str | None]:  # noqa: ARG002 - the client sends the key
        return {}

    def body(self, spec: ModelSpec, request: Request, most: int | None) -> dict[str, Any]:
        seed = spec.seed if request.seed is None else request.seed
        stop = request.stop or None
        said = settings(temperature=spec.temperature, seed=seed, num_predict=most, stop=stop)
        options = said | settings(**own) if isinstance(own := spec.extra.get("options"), dict) else said
        body = {"model": spec.model, "stream": False} | settings(**spec.extra)
        body["messages"] = spoken(request.messages)
        if options:
            body["options"] = options
        if request.tools and request.tool_choice != "none":
            body["tools"] = request.tools
        if request.schema is not None:
            body["format"] = request.schema
        return body

    def streamed(self, body: dict[str, Any]) -> dict[str, Any]:
        return {**body, "stream": True}

    def gather(self) -> Parts:
        return Parts()

    def read(self, body: dict[str, Any], limit: int | None, turn: int) -> Reply:
        usage = {"prompt_tokens": body.get("prompt_eval_count"), "completion_tokens": body.get("eval_count")}
        choice = {"message": unread(body) or body.get("message"), "finish_reason": body.get("done_reason")}
        return read({"choices": [choice], "usage": usage}, limit, turn)

    def trouble(self, status: int, body: Any, headers: Mapping[str, str], now: float) -> Trouble | None:
        return None if unread(body) else trouble(status, body, headers, now, answers)


def answers(body: Any) -> bool:
    """Whether the body is a whole reply: without streaming there is only one, and it is done. One that only says that
    the model was loaded is none."""
    if not isinstance(body, dict) or body.get("done") is False or body.get("done_reason") in LOADED:
        return False
    return isinstance(body.get("message"), dict)


def spoken(messages: list[Message]) -> list[Message]:
    """The history in Ollama's words."""
    names = names_by_call(messages)
    return [told(message, names) for message in messages]


def told(message: Message, names: Mapping[str, str]) -> Message:
    """One message: content is a text with images beside it, calls hold objects, and a result names its tool."""
    said = {key: value for key, value in message.items() if key not in ("content", "tool_calls", "tool_call_id")}
    said["content"] = content_text(message.get("content"))
    if images := [image[1] for part in silent(message.get("content")) if (image := picture(part)) is not None]:
        said["images"] = images
    if "tool_call_id" in message:
        said["tool_name"] = names.get(message["tool_call_id"], "")
        said["tool_call_id"] = message["tool_call_id"]
    if "tool_calls" in message:
        said["tool_calls"] = [call_of(call) for call in message["tool_calls"]]
    return said


def call_of(call: dict[str, Any]) -> dict[str, Any]:
    return {**call, "function": {**call["function"], "arguments": arguments_of(call)}}
