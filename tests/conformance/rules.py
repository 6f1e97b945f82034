"""What a request of each dialect has to look like: the server refuses one that does not, as the provider's would."""

import re
from collections.abc import Iterator
from typing import Any

Body = dict[str, Any]


def faults(dialect: str, path: str, headers: dict[str, str], body: Body) -> list[str]:
    """All that is wrong with a request."""
    return list({"openai": openai, "ollama": ollama, "anthropic": anthropic}[dialect](path, headers, body))


def openai(path: str, headers: dict[str, str], body: Body) -> Iterator[str]:
    """https://platform.openai.com/docs/api-reference/chat/create"""
    if path != "/v1/chat/completions":
        yield f"no such path: {path}"
    open_ids: list[str] = []
    for k, message in enumerate(body["messages"]):
        at = f"messages[{k}]"
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_ids:
                yield f"{at}: a tool message must follow a call with its id"
                continue
            open_ids.remove(message["tool_call_id"])
        elif open_ids:
            yield f"{at}: these calls have no result: {open_ids}"
        if message["role"] == "system" and k:
            yield f"{at}: a system message must come first"
        if message["role"] == "assistant":
            calls = message.get("tool_calls", [{}])
            yield from (f"{at}: {fault}" for call in calls if call for fault in openai_call(call))
            open_ids = [call["id"] for call in calls if call]
            if not open_ids and not message.get("content"):
                yield f"{at}: an assistant's message needs content or calls"
        elif not isinstance(message.get("content"), str):
            yield f"{at}: content must be a text"
    yield from (f"null: {key}" for key, value in body.items() if value is None)


def openai_call(call: Body) -> Iterator[str]:
    function = call.get("function", {})
    if not call.get("id") or call.get("type") != "function":
        yield "a call needs an id and a type"
    if not isinstance(function.get("arguments"), str):
        yield "arguments must be a text"
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", function.get("name", "")):
        yield f"no name of a tool: {function.get('name')!r}"


def ollama(path: str, headers: dict[str, str], body: Body) -> Iterator[str]:
    """https://docs.ollama.com/api/chat"""
    if path != "/api/chat":
        yield f"no such path: {path}"
    if body.keys() & {"temperature", "seed", "max_tokens", "num_predict", "tool_choice", "response_format"}:
        yield "what is set belongs into options"
    waiting: list[str] = []
    for k, message in enumerate(body["messages"]):
        at = f"messages[{k}]"
        if not isinstance(message.get("content"), str):
            yield f"{at}: content must be a text"
        if message["role"] == "tool":
            if message.get("tool_name") not in waiting:
                yield f"{at}: a result must name the tool that was called"
            else:
                waiting.remove(message["tool_name"])
        calls = message.get("tool_calls", [])
        waiting += [call["function"]["name"] for call in calls]
        yield from (
            f"{at}: arguments must be an object" for c in calls if not isinstance(c["function"]["arguments"], dict)
        )
    if waiting:
        yield f"no result for {waiting}"


def anthropic(path: str, headers: dict[str, str], body: Body) -> Iterator[str]:
    """https://platform.claude.com/docs/en/api/messages"""
    if path != "/v1/messages":
        yield f"no such path: {path}"
    if "anthropic-version" not in headers:
        yield "anthropic-version: header is required"
    if not isinstance(body.get("max_tokens"), int):
        yield "max_tokens: field required"
    open_ids: list[str] = []
    last = "assistant"
    for k, message in enumerate(body["messages"]):
        at = f"messages.{k}"
        if message["role"] not in ("user", "assistant") or message["role"] == last:
            yield f"{at}: roles must alternate between user and assistant"
        last = message["role"]
        blocks = message["content"]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(open_ids):
            yield f"{at}: tool_use ids were found without tool_result blocks immediately after: {open_ids}"
        if results and any(block["type"] == "tool_result" for block in blocks[len(results) :]):
            yield f"{at}: tool_result blocks must come first"
        yield from (f"{at}: {fault}" for block in blocks for fault in anthropic_block(block))
        open_ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if last != "user":
        yield "the conversation must end with a user message"
    kinds = {block["type"] for message in body["messages"] for block in message["content"]}
    if kinds & {"tool_use", "tool_result"} and not body.get("tools"):
        yield "Requests which include `tool_use` or `tool_result` blocks must define tools."
    for tool in body.get("tools", []):
        if set(tool) - {"name", "description", "input_schema"} or tool["input_schema"].get("type") != "object":
            yield f"tools: {tool}"


def anthropic_block(block: Body) -> Iterator[str]:
    if block["type"] == "text" and not block["text"].strip():
        yield "text content blocks must be non-empty"
    if block["type"] == "tool_use" and not isinstance(block["input"], dict):
        yield "tool_use.input: should be an object"
    if block["type"] == "tool_use" and not re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]):
        yield f"tool_use.id: {block['id']}"
    if block["type"] == "thinking" and not block.get("signature"):
        yield "thinking.signature: field required"
    if block["type"] == "redacted_thinking" and not block.get("data"):
        yield "redacted_thinking.data: field required"
