"""The baseline: a bare agent loop over one shared `AsyncOpenAI`, as one would write it by hand."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from subject import Subject

SYSTEM = "You look things up with the lookup tool and then answer in one line."
TOOL = {
    "type": "function",
    "function": {
        "name": "lookup",
        "description": "Look up the value stored under a key.",
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "required": ["key"],
            "properties": {"key": {"type": "string", "description": "the key to look up, such as item-3"}},
        },
    },
}


def loop(url: str, k: int) -> Callable[[str], Awaitable[str]]:  # noqa: ARG001
    from lookups.tool import lookup
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url, api_key="none")

    async def run(prompt: str) -> str:
        messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}]
        while True:
            reply = await client.chat.completions.create(model="scripted-model", messages=messages, tools=[TOOL])  # type: ignore[list-item]
            message = reply.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content or ""
            for call in message.tool_calls:
                result = lookup(**json.loads(call.function.arguments))  # type: ignore[union-attr]
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    return run


SUBJECTS = {"loop": Subject(loop, "async", "openai")}
